// What is in the way: what needs a person, who waits for whom, and which files are held.
'use strict';

const files = (() => {
  const shownAtMost = 200;
  let announced = '';

  function show(doc) {
    showAlerts(doc.alerts ?? []);
    showWaits(doc.waits ?? []);
    showLeases(doc.leases ?? [], Date.parse(doc.now ?? doc.generated_at));
  }

  function showAlerts(alerts) {
    const section = byID('alerts');
    section.hidden = alerts.length === 0;
    setText(section.querySelector('.count'), alerts.length);
    keyed(section.lastElementChild, alerts, alert => `${alert.ws_id} ${alert.task_id} ${alert.kind}`, makeAlert, (row, alert) => {
      const [who, task, what, why, way] = row.children;
      const kind = alertKinds[alert.kind] ?? { word: alert.kind, tone: 'bad', way: () => '' };
      setAttribute(row, 'data-tone', kind.tone);
      setText(who, alert.ws_id || alert.task_id);
      setText(task, alert.task_id !== alert.ws_id ? alert.task_id : '');
      setText(what, kind.word);
      setText(why, alert.kind === 'failed' ? alert.why.replaceAll('_', ' ') : alert.why.replace(/^(asks|blocked|veto|agent error): */, ''));
      setText(way, kind.way(alert));
    });
    announce(alerts);
  }

  function makeAlert(alert) {
    const who = el('button', { type: 'button', class: 'who' });
    who.addEventListener('click', () => workers.reveal(alert.ws_id));
    return el('li', {}, who, el('span', { class: 'soft' }), el('strong'), el('span', { class: 'why' }), el('code'));
  }

  // A reader of the screen hears of an alert once, when it comes.
  function announce(alerts) {
    const text = alerts.map(alert => `${alert.ws_id || alert.task_id} ${alertKinds[alert.kind]?.word ?? alert.kind}`).join(', ');
    if (text !== announced) setText(byID('said'), text && `Needs you: ${text}`);
    announced = text;
  }

  // What a task in nobody's hands waits for is in the graph; here are workers.
  function showWaits(waits) {
    const all = waits.filter(wait => wait.ws_id || wait.for.startsWith('file '));
    const section = byID('waits');
    section.hidden = all.length === 0;
    setText(section.querySelector('.count'), all.length);
    keyed(section.lastElementChild, all.slice(0, shownAtMost), wait => JSON.stringify(wait),
      () => el('li', {}, el('span', { class: 'who' }), el('span', { class: 'unseen' }, 'waits for'), el('span', { class: 'arrow', 'aria-hidden': 'true' }, '→'), el('span', { class: 'who' }), el('span', { class: 'for' })),
      (row, wait) => {
        const [who, , , on, what] = row.children;
        setAttribute(row, 'data-tone', wait.for.startsWith('file ') ? 'wait' : 'idle');
        setText(who, wait.ws_id || wait.task_id);
        setText(on, wait.on);
        setText(what, wait.for.replace(/^file /, ''));
      });
  }

  function showLeases(leases, now) {
    const section = byID('files');
    setText(section.querySelector('.count'), leases.length);
    section.querySelector('.empty').hidden = leases.length > 0;
    keyed(section.lastElementChild, leases.slice(0, shownAtMost), lease => lease.path,
      () => el('li', {}, el('span', { class: 'path' }), el('span', { class: 'who' }), el('span', { class: 'soft' })),
      (row, lease) => {
        const [path, who, since] = row.children;
        setText(path, lease.path);
        setAttribute(path, 'title', lease.path);
        setText(who, lease.ws_id);
        setText(since, duration((now - Date.parse(lease.acquired_at)) / 1000));
      });
    section.lastElementChild.hidden = leases.length === 0;
  }

  return { show };
})();
