// The feed: where the page's data comes from. It looks at status.json every few
// seconds, and where a server streams events it looks as soon as something happens.
'use strict';

const feed = (() => {
  const lookEvery = 2500;
  const lookEveryLive = 10_000;
  const lookAtMostEvery = 300;
  const silence = 40_000; // the server pings every 15 s
  const missesAtMost = 3;

  // A page from the disk may not read other files, but it may run them: status.js says the same as status.json.
  const fromDisk = location.protocol === 'file:';
  let misses = 0;
  let peopled = false; // a run without workers is nothing odd until it has had some
  let live = false;
  let timer = 0;
  let looking = false;
  let again = false;
  let lastLook = 0;
  let take = () => {};

  function start(handlers) {
    take = handlers;
    look();
    document.addEventListener('visibilitychange', () => { if (!document.hidden) look(); });
  }

  async function look() {
    if (looking) {
      again = true;
      return;
    }
    looking = true;
    lastLook = Date.now();
    clearTimeout(timer);
    try {
      const doc = await (fromDisk ? run(`status.js?t=${Date.now()}`) : read(`status.json?t=${Date.now()}`));
      const missing = !Array.isArray(doc.lanes) || doc.lanes.length === 0;
      peopled ||= !missing;
      miss(missing && peopled ? 'status.json lists no workers' : '');
      take.snapshot(doc, missing);
      if (!fromDisk) follow(doc.last_event_id ?? 0);
    } catch (error) {
      miss(error.message);
    }
    looking = false;
    timer = setTimeout(look, again ? lookAtMostEvery : live ? lookEveryLive : lookEvery);
    again = false;
  }

  // soon looks after an event, not more often than is of use.
  function soon() {
    if (looking) return look();
    clearTimeout(timer);
    timer = setTimeout(look, Math.max(0, lastLook + lookAtMostEvery - Date.now()));
  }

  function miss(why) {
    misses = why ? misses + 1 : 0;
    take.state(live ? 'live' : why ? 'lost' : 'polling', misses >= missesAtMost ? why : '');
  }

  async function read(url) {
    const answer = await fetch(url, { cache: 'no-store', signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new Error(`status.json: the server answers ${answer.status}`);
    return answer.json();
  }

  // brief is the whole text of a task, which lies beside status.json in a run dir; '' where it can't be read.
  async function brief(id) {
    if (fromDisk) return '';
    try {
      const answer = await fetch(`briefs/${encodeURIComponent(id)}.md`);
      return answer.ok ? answer.text() : '';
    } catch {
      return '';
    }
  }

  function run(url) {
    return new Promise((resolve, reject) => {
      const script = el('script', { src: url });
      window.fleetStatus = null;
      script.onload = () => { script.remove(); resolve(window.fleetStatus ?? {}); };
      script.onerror = () => { script.remove(); reject(new Error('status.js can not be read')); };
      document.head.append(script);
    });
  }

  let following = false;

  // follow reads the stream for as long as there is one. A static server has none, which is no fault.
  async function follow(lastEvent) {
    if (following) return;
    following = true;
    const since = take.since(lastEvent);
    const stop = new AbortController();
    let watchdog = setTimeout(() => stop.abort(), silence);
    try {
      const answer = await fetch(`events/stream?since=${since}`, { signal: stop.signal, headers: { Accept: 'text/event-stream' } });
      if (!(answer.headers.get('Content-Type') ?? '').startsWith('text/event-stream')) {
        if (answer.status < 429) return; // and never again
        throw new Error(`the server answers ${answer.status}`);
      }
      live = true;
      take.state('live', '');
      for await (const frame of frames(answer.body)) {
        clearTimeout(watchdog);
        watchdog = setTimeout(() => stop.abort(), silence);
        if (!frame.data) continue;
        take.event({ ...JSON.parse(frame.data), said: frame.said, tone: frame.tone });
        soon();
      }
    } catch { /* the server is gone, or silent */ }
    clearTimeout(watchdog);
    live = false;
    following = false;
    soon();
  }

  // frames yields the fields of each frame of a stream. One without data is a sign of life.
  async function* frames(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split('\n\n');
      rest = parts.pop();
      for (const part of parts) yield Object.fromEntries(part.split('\n').map(field));
    }
  }

  function field(line) {
    const end = line.indexOf(': ');
    return [line.slice(0, end), line.slice(end + 2)];
  }

  return { start, brief };
})();
