// The workers: pips and counts of the header, and a card each, in groups by phase.
'use strict';

const workers = (() => {
  const openDetails = remembered('fleet.open');
  const closedPhases = remembered('fleet.phases');
  const stateOrder = ['running', 'blocked', 'pending', 'failed', 'done', 'landed'];
  let lanes = [];
  let planned = []; // the phases, in their order
  let rows = new Map(); // the roster's row of each lane
  let tasks = new Map();
  let latest = new Map(); // the task that each workstream has, or had last
  const heard = new Map(); // the last event of each, in words
  let only = '';
  let received = 0;

  const elapsed = lane => (lane.elapsed_s ?? 0) + (lane.state === 'running' ? (Date.now() - received) / 1000 : 0);
  const taskOf = (lane, row) => tasks.get(row.task_id) ?? latest.get(lane.id);
  const finished = lane => lane.state === 'done' || lane.state === 'landed' || lane.state === 'failed';

  function show(doc) {
    lanes = doc.lanes;
    planned = doc.manifest?.phases ?? [];
    rows = new Map((doc.workstreams ?? []).map(row => [row.ws_id, row]));
    tasks = new Map((doc.tasks ?? []).map(task => [task.task_id, task]));
    latest = new Map();
    for (const task of tasks.values()) {
      if (!(latest.get(task.workstream)?.assigned_at >= task.assigned_at)) latest.set(task.workstream, task);
    }
    received = Date.now();
    showPips();
    showStates();
    showPhases();
    document.querySelector('#workers .empty').hidden = lanes.length > 0;
  }

  function showPips() {
    keyed(byID('pips'), lanes, lane => lane.id, lane => {
      const pip = el('span', { class: 'pip' });
      pip.addEventListener('click', () => reveal(lane.id));
      return pip;
    }, (pip, lane) => {
      setAttribute(pip, 'data-state', lane.state);
      setAttribute(pip, 'title', `${lane.id} ${lane.state}`);
    });
    setAttribute(byID('pips'), 'data-many', lanes.length > 40);
    const counts = stateOrder.map(state => [state, lanes.filter(lane => lane.state === state).length]).filter(([, n]) => n > 0);
    setAttribute(byID('pips'), 'aria-label', `${count(lanes.length, 'worker')}: ${counts.map(([state, n]) => `${n} ${state}`).join(', ')}`);
  }

  // The states are buttons that show the workers in that state alone.
  function showStates() {
    const choices = [['', lanes.length], ...stateOrder.map(state => [state, lanes.filter(lane => lane.state === state).length])];
    keyed(byID('states'), choices.filter(([state, n]) => n > 0 || state === only), ([state]) => state, ([state]) => {
      const button = el('button', { type: 'button' }, el('span', { class: 'pip', 'data-state': state, hidden: state === '' }), el('span'));
      button.addEventListener('click', () => {
        only = only === state ? '' : state;
        showStates();
        showPhases();
      });
      return button;
    }, (button, [state, n]) => {
      setText(button.lastChild, `${state || 'all'} ${n}`);
      setAttribute(button, 'aria-pressed', String(only === state));
    });
  }

  function showPhases() {
    const shown = lanes.filter(lane => !only || lane.state === only);
    const phases = [...new Set(shown.map(lane => lane.phase ?? ''))].sort((a, b) => planned.indexOf(a) - planned.indexOf(b));
    setAttribute(byID('phases'), 'data-many', lanes.length > 40);
    keyed(byID('phases'), phases, phase => phase, makePhase, (group, phase) => {
      const all = lanes.filter(lane => (lane.phase ?? '') === phase);
      group.querySelector('summary').hidden = phases.length === 1 && phase === '';
      setText(group.querySelector('.phase'), phase || 'no phase');
      setText(group.querySelector('.done'), `${all.filter(finished).length}/${all.length}`);
      keyed(group.querySelector('.cards'), shown.filter(lane => (lane.phase ?? '') === phase), lane => lane.id, makeCard, updateCard);
    });
  }

  function makePhase(phase) {
    const group = el('details', { open: !closedPhases.has(phase) || phase === '' ? '' : null },
      el('summary', {}, el('h3', { class: 'phase' }), el('span', { class: 'done soft' })), el('div', { class: 'cards' }));
    group.addEventListener('toggle', () => closedPhases.put(phase, !group.open));
    return group;
  }

  function makeCard(lane) {
    const part = name => el('span', { class: name });
    const card = el('details', { class: 'card', id: `worker-${lane.id}` },
      el('summary', {},
        el('span', { class: 'head' }, part('pip'), part('id'), part('name'), part('state'), el('span', { class: 'chip' })),
        part('task'), part('activity'),
        el('span', { class: 'figures' }, part('elapsed'), part('tools'), part('commits'), part('tokens'))),
      el('dl', { class: 'detail' }));
    card.open = openDetails.has(lane.id);
    card.addEventListener('toggle', () => {
      openDetails.put(lane.id, card.open);
      detail(card, card.lane);
    });
    return card;
  }

  function updateCard(card, lane) {
    const row = rows.get(lane.id) ?? {};
    const put = (name, text) => setText(card.querySelector(`.${name}`), text);
    card.lane = lane;
    setAttribute(card, 'data-state', lane.state);
    setAttribute(card.querySelector('.pip'), 'data-state', lane.state);
    put('id', lane.id);
    put('name', (lane.name ?? '').toLowerCase() === lane.id.toLowerCase() ? '' : lane.name);
    put('state', lane.state);
    chip(card.querySelector('.chip'), lane.brain || row.brain || '');
    put('task', taskOf(lane, row)?.title ?? row.task);
    put('activity', activity(lane) || row.notes);
    put('tools', lane.tools ? count(lane.tools, 'tool') : '');
    put('commits', lane.commits ? count(lane.commits, 'commit') : '');
    put('tokens', lane.tokens ? `${quantity(lane.tokens)} tokens` : '');
    showElapsed(card);
    detail(card, lane);
  }

  // What a worker was heard of last is nearer to what it does than a mere "working".
  const activity = lane => (lane.state === 'running' && (!lane.activity || lane.activity === 'working') && heard.get(lane.id)) || lane.activity;

  function hear(event) {
    if (event.ws && event.said) heard.set(event.ws, event.said);
  }

  function chip(node, brain) {
    setText(node, brainLetter(brain));
    setAttribute(node, 'data-own', brainLetters.has(brain) ? null : '');
    setAttribute(node, 'title', brain || 'no brain yet');
    setAttribute(node, 'role', 'img');
    setAttribute(node, 'aria-label', brain || 'no brain yet');
  }

  // A closed card has no detail to keep up to date.
  function detail(card, lane) {
    if (!card.open) return;
    const row = rows.get(lane.id) ?? {};
    const task = taskOf(lane, row);
    if (task && card.briefOf !== task.task_id) readBrief(card, task.task_id);
    terms(card.lastChild, [
      ['Task', task && `${task.task_id} ${task.title}`],
      ['Try', task && task.attempts > 0 ? `${task.attempts} of ${task.max_attempts}` : ''],
      ['Note', row.notes],
      ['Last commit', lane.last_commit],
      ['Artefact', lane.artifact, 'code'],
      ['Last error', lane.err_tail, 'pre'],
      ['Holds', row.held?.join('\n'), 'pre'],
      ['Claims', row.claims?.join('\n'), 'pre'],
      ['Tree', row.tree === 'main' ? '' : row.tree, 'code'],
      ['Landed', row.landed_sha, 'code'],
      ['Brain', [lane.brain, row.mode].filter(Boolean).join(', ')],
      ['Started', lane.started ? clock(lane.started) : ''],
      ['Tokens', lane.tokens ? lane.tokens.toLocaleString('en') : ''],
      ['Cost', dollars(spend(lane))],
      ['Brief', card.brief || row.task, 'pre'],
    ]);
  }

  async function readBrief(card, id) {
    card.briefOf = id;
    card.brief = '';
    const text = await feed.brief(id);
    if (card.briefOf !== id) return;
    card.brief = text;
    detail(card, card.lane);
  }

  const showElapsed = card => setText(card.querySelector('.elapsed'), card.lane.started ? duration(elapsed(card.lane)) : '–');

  function tick() {
    for (const card of document.querySelectorAll('.card[data-state=running]')) showElapsed(card);
  }

  // reveal opens the card of a worker and goes there.
  function reveal(id) {
    only = '';
    showStates();
    showPhases();
    const card = byID(`worker-${id}`);
    if (!card) return;
    card.closest('.cards').parentNode.open = true;
    card.open = true;
    card.firstChild.focus({ preventScroll: true });
    card.scrollIntoView({ block: 'center', behavior: 'smooth' });
  }

  const oldest = () => Math.max(0, ...lanes.filter(lane => lane.state === 'running').map(elapsed));

  return { show, hear, tick, reveal, oldest, finished };
})();
