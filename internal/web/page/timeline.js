// The timeline: for each worker, when it was at which task, and when a write of its was denied.
'use strict';

const timeline = (() => {
  const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 43200, 86400, 172800, 604800];
  const attempts = new Map(); // by task and number, as the events tell them
  const denials = [];
  const denialsKept = 2000;
  let lanes = [];
  let from = 0;
  let until = 0;
  let step = 1;
  let now = () => Date.now();

  const end = { task_succeeded: 'good', task_requeued: 'wait', task_failed: 'bad', task_cancelled: 'off' };
  const current = new Map(); // the key of the attempt in hand, by task

  // learn takes from an event what the snapshot has forgotten: earlier attempts, and denied writes.
  function learn(event) {
    const at = Date.parse(event.at);
    if (event.type === 'task_assigned') {
      const key = `${event.task} ${event.data?.attempt ?? 1}`;
      attempts.set(key, { key, ws: event.ws, task: event.task, from: at, to: 0, tone: 'busy' });
      current.set(event.task, key);
    } else if (end[event.type] && current.has(event.task)) {
      Object.assign(attempts.get(current.get(event.task)), { to: at, tone: end[event.type] });
      current.delete(event.task);
    } else if (event.type === 'lease_denied') {
      if (denials.length === denialsKept) denials.shift();
      denials.push({ key: `denied ${event.id}`, ws: event.ws, task: event.task, from: at, to: at, tone: 'bad', path: event.data?.path });
    }
  }

  function forget() {
    attempts.clear();
    current.clear();
    denials.length = 0;
  }

  // The snapshot knows the last attempt at each task, with or without events.
  function show(doc, clockNow) {
    now = clockNow;
    lanes = doc.lanes;
    for (const task of doc.tasks ?? []) {
      if (!task.assigned_at || !task.workstream) continue;
      const key = `${task.task_id} ${task.attempts}`;
      const tone = taskTone(task);
      const known = attempts.get(key) ?? {};
      attempts.set(key, {
        key, ws: task.workstream, task: task.task_id, title: task.title, from: Date.parse(task.assigned_at), tone: known.to && task.status === 'pending' ? known.tone : tone,
        to: tone === 'busy' ? 0 : known.to || Date.parse(task.completed_at || task.updated_at),
      });
    }
    byID('timeline').hidden = attempts.size === 0;
    if (attempts.size) draw();
  }

  function draw() {
    const bars = [...attempts.values(), ...denials];
    from = Math.min(...bars.map(bar => bar.from));
    const end = bars.some(bar => bar.to === 0) ? now() : Math.max(...bars.map(bar => bar.to));
    const span = Math.max(1000, end - from);
    step = 1000 * (steps.find(s => span / 1000 / s <= room() / 90) ?? steps.at(-1));
    until = from + Math.ceil(span / step) * step;
    const list = byID('spans');
    setStyle(list, '--ticks', (until - from) / step);
    const mine = Map.groupBy(bars, bar => bar.ws);
    keyed(list, lanes.filter(lane => mine.has(lane.id)), lane => lane.id,
      lane => el('li', {}, el('span', { class: 'who' }, lane.id), el('ol')),
      (row, lane) => keyed(row.lastChild, mine.get(lane.id), bar => bar.key, () => el('li', {}, el('span')), updateBar));
    drawTicks();
  }

  const room = () => byID('ticks').clientWidth || 600;
  const share = at => `${(100 * (at - from) / (until - from)).toFixed(3)}%`;

  // Most bars are over and stay as they are for as long as the scale does.
  function updateBar(node, bar) {
    const looks = `${bar.from} ${bar.to} ${bar.tone} ${from} ${until}`;
    if (bar.to && node.looks === looks) return;
    node.looks = looks;
    setAttribute(node, 'data-tone', bar.tone);
    setAttribute(node, 'class', bar.path === undefined ? 'bar' : 'denial');
    setStyle(node, 'left', share(bar.from));
    if (bar.path === undefined) setStyle(node, 'width', share(from + (bar.to || now()) - bar.from));
    const took = duration(((bar.to || now()) - bar.from) / 1000);
    setText(node.firstChild, bar.path === undefined ? bar.task : '');
    setAttribute(node, 'title', bar.path === undefined ? `${bar.key.replace(' ', ', try ')} ${bar.title ?? ''}\n${clock(bar.from)}, ${took}` : `${clock(bar.from)} denied: ${bar.path}`);
  }

  function drawTicks() {
    const ticks = [];
    for (let at = from; at < until; at += step) ticks.push(at);
    keyed(byID('ticks'), ticks, at => at, () => el('span'), (node, at) => {
      setText(node, at === from ? clock(at) : `+${duration((at - from) / 1000).replace(/ 00[sm]$/, '')}`);
      setStyle(node, 'left', share(at));
    });
  }

  // Only what is being worked on grows; the scale changes when its end is reached.
  function tick() {
    const open = [...attempts.values()].filter(bar => bar.to === 0);
    if (open.length && document.visibilityState === 'visible') draw();
  }

  return { learn, forget, show, tick };
})();
