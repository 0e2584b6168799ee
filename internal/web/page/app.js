// The page: the header of the run, and what each look and each event changes.
'use strict';

(() => {
  let doc = null;
  let skew = 0; // between the server's clock and this one

  const now = () => Date.now() + skew;

  const feedWords = { waiting: 'connecting', live: 'live', polling: 'looks every 2.5 s', lost: 'no answer' };

  function takeSnapshot(next, missing) {
    const other = doc && (doc.run_dir !== next.run_dir || next.last_event_id < doc.last_event_id);
    if (other && !missing) {
      log.forget();
      timeline.forget();
    }
    if (missing && doc?.lanes.length) return; // the last state that had workers stays
    doc = { ...next, lanes: next.lanes ?? [] };
    const at = Date.parse(doc.now ?? doc.generated_at);
    skew = at ? at - Date.now() : 0;
    for (const event of doc.events ?? []) takeEvent(event);
    for (const part of [workers, graph, files]) part.show(doc);
    timeline.show(doc, now);
    showHeader();
    tick();
  }

  function takeEvent(event) {
    if (event.id <= log.last()) return;
    log.add(event);
    timeline.learn(event);
    workers.hear(event);
  }

  function showHeader() {
    const busy = doc.lanes.filter(lane => lane.state === 'running').length;
    const needed = doc.alerts?.length ?? 0;
    setText(byID('name'), doc.run || 'fleet');
    setText(byID('repo'), doc.repo && doc.repo !== doc.run ? doc.repo : '');
    document.title = `${needed ? `(${needed}) ` : ''}${doc.run || 'fleet'} · ${busy} running`;
    showStats(busy);
    showProgress();
  }

  function showStats(busy) {
    const sum = value => doc.lanes.reduce((total, lane) => total + value(lane), 0);
    const finished = doc.lanes.filter(workers.finished).length;
    const tasks = doc.tasks ?? [];
    terms(byID('stats'), [
      ['tasks', tasks.length && `${tasks.filter(task => task.status === 'succeeded').length}/${tasks.length}`],
      ['workers', doc.lanes.length],
      ['running', busy],
      ['finished', finished],
      ['oldest', busy ? duration(workers.oldest()) : '–'],
      ...['tools', 'commits', 'tokens'].map(what => [what, quantity(sum(lane => lane[what] ?? 0) || '')]),
      ['spent', dollars(sum(spend))],
    ]);
  }

  // The bar of the tasks has a part for each tone, in the order of a task's life.
  function showProgress() {
    const tasks = doc.tasks ?? [];
    const parts = ['good', 'busy', 'wait', 'bad', 'off', 'idle'].map(tone => [tone, tasks.filter(task => taskTone(task) === tone).length]);
    const words = { good: 'succeeded', busy: 'running', wait: 'waiting for a file', bad: 'failed', off: 'blocked or cancelled', idle: 'to do' };
    const present = parts.filter(([, n]) => n > 0);
    byID('progress').hidden = tasks.length === 0;
    keyed(byID('progress'), present, ([tone]) => tone, ([tone]) => el('span', { 'data-tone': tone }), (part, [tone, n]) => {
      setStyle(part, 'flex-grow', n);
      setAttribute(part, 'title', `${n} ${words[tone]}`);
    });
    setAttribute(byID('progress'), 'aria-label', `${count(tasks.length, 'task')}: ${present.map(([tone, n]) => `${n} ${words[tone]}`).join(', ')}`);
  }

  function showFeed(state, warning) {
    setAttribute(byID('feed'), 'data-feed', state);
    setText(byID('feed-text'), feedWords[state]);
    byID('warning').hidden = !warning;
    setText(byID('warning'), warning && `${warning}${doc ? `; this is how it was at ${clock(doc.now ?? doc.generated_at)}` : ''}`);
  }

  function tick() {
    if (!doc || document.hidden) return;
    workers.tick();
    timeline.tick();
    showStats(doc.lanes.filter(lane => lane.state === 'running').length);
  }

  setInterval(tick, 1000);
  feed.start({
    snapshot: takeSnapshot,
    event: takeEvent,
    state: showFeed,
    since: lastEvent => Math.max(log.last(), lastEvent - log.keep),
  });
})();
