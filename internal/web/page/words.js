// What the run's data is called and how it looks: words, numbers, letters and tones.
'use strict';

// The tones of tasks are the palette: idle, busy, good, wait, bad, off.
const taskTones = {
  pending: 'idle', assigned: 'busy', running: 'busy', succeeded: 'good', failed: 'bad', blocked_upstream: 'off', cancelled: 'off',
};
const taskTone = task => (task.status === 'pending' && task.blocked_on ? 'wait' : taskTones[task.status] ?? 'idle');

function taskWord(task) {
  if (task.status === 'pending' && task.blocked_on) return `waits for ${task.blocked_on}`;
  if (task.status === 'pending' && task.runnable) return 'ready';
  if (task.status === 'blocked_upstream') return 'blocked upstream';
  if (task.status === 'pending') return 'waits';
  return task.status;
}

const brainLetters = new Map(Object.entries({
  claude: 'C', opus: 'O', sonnet: 'S', haiku: 'H', fable: 'F', glm: 'G', codex: 'X', grok: 'K', gemini: 'M', opencode: 'N', scripted: 'P', shell: '$',
}));
// A profile of the user's own has two letters of its name.
const brainLetter = brain => brainLetters.get(brain) ?? (brain.slice(0, 2).toUpperCase() || '?');

// What other services' agents report as their cost is a notion and nobody's bill.
const billed = new Set(['claude', 'opus', 'sonnet', 'haiku', 'fable']);
const spend = lane => (billed.has(lane.brain) ? lane.cost_usd ?? 0 : 0);
const dollars = usd => (usd > 0 ? `$${usd.toFixed(2)}` : '');

function duration(seconds) {
  seconds = Math.max(0, Math.floor(seconds));
  const two = n => String(n).padStart(2, '0');
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h ${two(Math.floor(seconds / 60) % 60)}m`;
}

function quantity(n) {
  if (n < 1000) return String(n);
  if (n < 999_500) return `${(n / 1000).toFixed(n < 9950 ? 1 : 0)}k`;
  return `${(n / 1e6).toFixed(n < 9.95e6 ? 1 : 0)}M`;
}

const count = (n, noun) => `${n} ${noun}${n === 1 ? '' : 's'}`;

const clock = at => new Date(at).toTimeString().slice(0, 8); // a hundred times as fast as a locale's

// What each kind of alert is called, and what a person can do about it.
const alertKinds = {
  dialog: { word: 'asks', tone: 'bad', way: a => `fleet attach ${a.ws_id}` },
  blocked: { word: 'is blocked', tone: 'bad', way: a => `fleet send ${a.ws_id} "go on"` },
  error: { word: 'had an error', tone: 'bad', way: a => `fleet restart ${a.ws_id}` },
  landing: { word: 'does not land', tone: 'bad', way: a => `fleet land ${a.ws_id}` },
  dead: { word: 'is gone', tone: 'bad', way: a => `fleet spawn ${a.ws_id}` },
  failed: { word: 'failed', tone: 'bad', way: a => `fleet task retry ${a.task_id}` },
  stale: { word: 'is silent', tone: 'wait', way: a => `fleet attach ${a.ws_id}` },
  limit: { word: 'is at its limit', tone: 'wait', way: () => '' },
  veto: { word: 'waits for a file', tone: 'wait', way: () => '' },
};

// eventWords says an event as fleet does, or, where the feed brings no words, by its type and payload.
function eventWords(event) {
  if (event.said) return event.said;
  const payload = Object.entries(event.data ?? {}).filter(([, value]) => value !== '' && value !== false);
  const plain = value => (typeof value === 'object' ? JSON.stringify(value) : String(value));
  return [event.type.replaceAll('_', ' '), ...payload.map(([key, value]) => `${key}=${plain(value)}`)].join(' ');
}
