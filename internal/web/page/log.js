// The events, the newest first. However many there are, only those in view have elements.
'use strict';

const log = (() => {
  const keep = 10_000;
  const ahead = 6; // rows beyond what is in view, so that a scroll shows no hole
  const kinds = [
    ['matters', 'What matters', event => event.tone !== 'quiet'],
    ['all', 'Everything', () => true],
    ['trouble', 'Trouble', event => event.tone === 'bad' || event.tone === 'wait'],
    ['files', 'Files', event => /^(lease_|file_|shell_|foreign_|claim_|escape_)/.test(event.type)],
    ['tasks', 'Tasks', event => /^(task_|check_)/.test(event.type)],
    ['workers', 'Workers', event => /^(worker_|workstream_|status_|prompt_|send_|notification|handoff_|limit_)/.test(event.type)],
    ['git', 'Git', event => /^(committed|landed|land_|reverted|migration_)/.test(event.type)],
  ];
  const view = byID('events');
  const list = view.firstChild;
  const find = byID('find');
  const kind = byID('kind');
  let events = []; // the oldest first
  let shown = [];
  let fresh = [];
  let frame = 0;
  let rowHeight = 0;

  const last = () => fresh.at(-1)?.id ?? events.at(-1)?.id ?? 0;

  function add(event) {
    if (event.id <= last()) return;
    fresh.push(event);
    frame ||= requestAnimationFrame(takeIn);
  }

  // takeIn shows what has come since the last frame; a reader who has scrolled keeps the place.
  function takeIn() {
    frame = 0;
    const passing = fresh.filter(passes());
    events = events.concat(fresh);
    shown = shown.concat(passing);
    if (events.length > keep) {
      events = events.slice(-keep);
      shown = shown.filter(event => event.id >= events[0].id);
    }
    fresh = [];
    measure();
    if (view.scrollTop > 0) view.scrollTop += passing.length * rowHeight;
    draw();
  }

  function forget() {
    events = [];
    shown = [];
    fresh = [];
    draw();
  }

  function passes() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const ofKind = kinds.find(([name]) => name === kind.value)[2];
    return event => ofKind(event) && words.every(word => text(event).includes(word));
  }

  const text = event => (event.lower ??= `${event.ws ?? ''} ${event.task ?? ''} ${event.type} ${eventWords(event)}`.toLowerCase());

  function refilter() {
    shown = events.filter(passes());
    view.scrollTop = 0;
    draw();
  }

  function measure() {
    rowHeight = parseFloat(getComputedStyle(view).getPropertyValue('--row')) || 26;
  }

  function draw() {
    setText(document.querySelector('#log .count'), shown.length === events.length ? events.length : `${shown.length} of ${events.length}`);
    const none = document.querySelector('#log .empty');
    none.hidden = shown.length > 0;
    setText(none, events.length ? 'No event passes the filter.' : 'Nothing has happened yet.');
    setStyle(list, 'height', `${shown.length * rowHeight}px`);
    const first = Math.max(0, Math.floor(view.scrollTop / rowHeight) - ahead);
    const end = Math.min(shown.length, Math.ceil((view.scrollTop + view.clientHeight) / rowHeight) + ahead);
    const inView = [];
    for (let i = first; i < end; i++) inView.push({ event: shown[shown.length - 1 - i], top: i * rowHeight });
    keyed(list, inView, ({ event }) => event.id, ({ event }) => makeRow(event), (row, { top }) => setStyle(row, 'top', `${top}px`));
  }

  function makeRow(event) {
    const words = eventWords(event);
    return el('li', { 'data-tone': event.tone ?? 'plain', title: words },
      el('time', { datetime: event.at }, clock(event.at)), el('span', { class: 'who' }, event.ws ?? ''),
      el('span', { class: 'task' }, event.task && event.task !== event.ws ? event.task : ''), el('span', { class: 'words' }, words));
  }

  for (const [name, label] of kinds) kind.append(el('option', { value: name }, label));
  view.addEventListener('scroll', draw, { passive: true });
  find.addEventListener('input', refilter);
  kind.addEventListener('change', refilter);
  byID('filter').addEventListener('submit', event => event.preventDefault());
  new ResizeObserver(() => { measure(); draw(); }).observe(view);

  return { add, forget, last, keep };
})();
