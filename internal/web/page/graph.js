// The task graph: layers from left to right, each task right of all that it
// depends on, and below it the tasks that nothing depends on nor they on anything.
'use strict';

// layout places the nodes of a graph. It is pure: tasks in, places and lines out.
function layout(tasks, size, width) {
  const nodes = new Map(tasks.map(task => [task.task_id, { id: task.task_id, before: [], after: [], layer: 0, height: size.height }]));
  for (const task of tasks) {
    for (const id of task.depends_on ?? []) {
      if (nodes.has(id)) nodes.get(task.task_id).before.push(nodes.get(id));
    }
  }
  for (const node of nodes.values()) for (const other of node.before) other.after.push(node);
  const linked = [...nodes.values()].filter(node => node.before.length + node.after.length > 0);
  const single = [...nodes.values()].filter(node => node.before.length + node.after.length === 0);
  const layers = order(bend(rank(linked)));
  const bottom = place(layers, size);
  const across = size.width + size.layerGap;
  const perRow = Math.max(1, Math.floor((width + size.layerGap) / across));
  single.forEach((node, i) => {
    node.x = (i % perRow) * across;
    node.y = (bottom > 0 ? bottom + size.rowGap * 2 : 0) + Math.floor(i / perRow) * (size.height + size.rowGap);
  });
  const all = [...nodes.values()];
  return {
    nodes,
    edges: linked.flatMap(node => node.before.map(from => ({ from, to: node, key: `${from.id}\n${node.id}` }))),
    layers,
    single,
    width: Math.max(0, ...all.map(node => node.x + size.width)),
    height: Math.max(0, ...all.map(node => node.y + size.height)),
  };
}

// rank gives each node the layer after the last one of those before it. A node of a circle, which fleet refuses, stays where it is.
function rank(nodes) {
  const missing = new Map(nodes.map(node => [node, node.before.length]));
  const ready = nodes.filter(node => node.before.length === 0);
  for (const node of ready) {
    for (const next of node.after) {
      next.layer = Math.max(next.layer, node.layer + 1);
      missing.set(next, missing.get(next) - 1);
      if (missing.get(next) === 0) ready.push(next);
    }
  }
  return nodes;
}

// bend splits each line that passes layers, so that it finds its way between their nodes.
function bend(nodes) {
  const layers = [];
  const put = node => (layers[node.layer] ??= []).push(node);
  for (const node of nodes) put(node);
  for (const node of nodes) {
    node.left = node.before.map(from => {
      let last = from;
      for (let layer = from.layer + 1; layer < node.layer; layer++) {
        const knee = { layer, height: 6, left: [last], right: [] };
        (last.right ??= []).push(knee);
        put(last = knee);
      }
      (last.right ??= []).push(node);
      return last;
    });
    node.right ??= [];
  }
  return layers;
}

const mean = (nodes, value) => nodes.reduce((sum, node) => sum + value(node), 0) / nodes.length;

// order sorts each layer by where its neighbours are, back and forth, which takes most crossings away.
function order(layers) {
  const number = layer => layer.forEach((node, i) => { node.at = i; });
  layers.forEach(number);
  for (let sweep = 0; sweep < 6; sweep++) {
    const [side, way] = sweep % 2 ? ['right', [...layers].reverse()] : ['left', layers];
    for (const layer of way) {
      for (const node of layer) node.pull = node[side].length ? mean(node[side], other => other.at) : node.at;
      layer.sort((a, b) => a.pull - b.pull || a.at - b.at);
      number(layer);
    }
  }
  return layers;
}

// place moves the nodes of each layer towards their neighbours, as far as their order and the gaps allow.
function place(layers, size) {
  const middle = node => node.y + node.height / 2;
  layers.forEach((layer, i) => {
    let y = 0;
    for (const node of layer) {
      node.x = i * (size.width + size.layerGap);
      node.y = y;
      y += node.height + size.rowGap;
    }
  });
  for (let sweep = 0; sweep < 8; sweep++) {
    const [side, way] = sweep % 2 ? ['right', [...layers].reverse()] : ['left', layers];
    for (const layer of way) settle(layer, side, middle, size.rowGap);
  }
  const all = layers.flat();
  const top = Math.min(...all.map(node => node.y));
  for (const node of all) node.y -= top;
  return Math.max(0, ...all.map(node => node.y + node.height));
}

// settle puts neighbouring nodes that want the same place into blocks, each at the mean of what its nodes want.
function settle(layer, side, middle, gap) {
  const blocks = [];
  for (const node of layer) {
    const wants = (node[side].length ? mean(node[side], middle) : middle(node)) - node.height / 2;
    let block = { nodes: [node], weight: 1, y: wants, height: node.height };
    while (blocks.length && blocks.at(-1).y + blocks.at(-1).height + gap > block.y) {
      const above = blocks.pop();
      const weight = above.weight + block.weight;
      block = {
        nodes: [...above.nodes, ...block.nodes], weight, height: above.height + gap + block.height,
        y: (above.y * above.weight + (block.y - above.height - gap) * block.weight) / weight,
      };
    }
    blocks.push(block);
  }
  for (const block of blocks) {
    let y = block.y;
    for (const node of block.nodes) {
      node.y = y;
      y += node.height + gap;
    }
  }
}

const graph = (() => {
  const roomy = { width: 172, height: 46, layerGap: 40, rowGap: 12, many: false };
  const dense = { width: 128, height: 24, layerGap: 30, rowGap: 8, many: true };
  const drawnAtMost = 400;
  const pen = document.createElement('canvas').getContext('2d');
  const edgeLayer = svg('g');
  const nodeLayer = svg('g');
  const canvas = svg('svg', { 'aria-hidden': 'true' }, edgeLayer, nodeLayer);
  let tasks = new Map();
  let drawn = null;
  let shape = '';
  let selected = '';

  function show(doc) {
    const all = doc.tasks ?? [];
    tasks = new Map(all.map(task => [task.task_id, task]));
    byID('tasks').hidden = all.length === 0;
    if (!all.length) return;
    const over = all.filter(task => task.status === 'succeeded').length;
    setText(document.querySelector('#tasks .count'), `${over}/${all.length}`);
    const worth = worthDrawing(all);
    setText(byID('graph-key'), worth.length < all.length ? `${all.length - worth.length} that are over and done are not drawn` : '');
    draw(worth);
    select(tasks.has(selected) ? selected : '');
  }

  // Of a large graph, what has succeeded and has nothing after it that is still to do is left out.
  function worthDrawing(all) {
    if (all.length <= drawnAtMost) return all;
    const needed = new Set(all.filter(task => task.status !== 'succeeded').flatMap(task => [task.task_id, ...task.depends_on ?? []]));
    return all.filter(task => needed.has(task.task_id));
  }

  // The places are found anew only when the graph itself has changed, or its room.
  function draw(shown) {
    const room = Math.max(240, byID('graph').clientWidth - 34);
    const now = JSON.stringify([room, shown.map(task => [task.task_id, task.depends_on])]);
    const size = shown.length > 60 ? dense : roomy;
    if (now !== shape) {
      shape = now;
      drawn = layout(shown, size, room);
      for (const [name, value] of [['width', drawn.width + 2], ['height', drawn.height + 2], ['viewBox', `-1 -1 ${drawn.width + 2} ${drawn.height + 2}`]]) setAttribute(canvas, name, value);
      goToFront(shown, size);
    }
    keyed(edgeLayer, drawn.edges, edge => edge.key, () => svg('path', { class: 'edge' }), (path, edge) => {
      path.edge = edge;
      setAttribute(path, 'd', line(edge, size));
      setAttribute(path, 'data-tone', tasks.get(edge.from.id).status === 'succeeded' ? 'good' : null);
    });
    keyed(nodeLayer, shown, task => task.task_id, makeNode, (node, task) => updateNode(node, task, size));
  }

  // A graph that is wider than its room is shown where the work is.
  function goToFront(shown, size) {
    const [front] = shown.filter(task => taskTone(task) === 'busy').map(task => drawn.nodes.get(task.task_id)).sort((a, b) => a.x - b.x || a.y - b.y);
    if (front) byID('graph').scrollTo(front.x - size.width - size.layerGap, front.y - 120);
  }

  function line({ from, to }, size) {
    const knees = [];
    for (let knee = to.left[to.before.indexOf(from)]; knee !== from; knee = knee.left[0]) knees.unshift(knee);
    const points = [{ x: from.x + size.width, y: from.y + from.height / 2 }];
    for (const knee of knees) points.push({ x: knee.x, y: knee.y + 3 }, { x: knee.x + size.width, y: knee.y + 3 });
    points.push({ x: to.x, y: to.y + to.height / 2 });
    let d = `M${points[0].x} ${points[0].y}`;
    for (let i = 1; i < points.length; i++) {
      const [a, b] = [points[i - 1], points[i]];
      const mid = (a.x + b.x) / 2;
      d += `C${mid} ${a.y} ${mid} ${b.y} ${b.x} ${b.y}`;
    }
    return d;
  }

  function makeNode(task) {
    const node = svg('g', { class: 'node', 'data-id': task.task_id }, svg('title'), svg('rect', { class: 'box', rx: 5 }), svg('path', { class: 'mark' }), svg('text', { class: 'name' }), svg('text', { class: 'soft' }));
    node.addEventListener('click', () => select(selected === task.task_id ? '' : task.task_id));
    return node;
  }

  // Each tone has a mark of its own shape, so that no state is told by its colour alone.
  const marks = {
    idle: 'M.5.5h9v9h-9z', busy: 'M0 0h10v10H0z', good: 'M1 5.5 4 8.5 9 1.5', bad: 'M1 1 9 9M9 1 1 9', wait: 'M5 0 10 5 5 10 0 5z', off: 'M0 5h10',
  };

  function updateNode(node, task, size) {
    const { x, y } = drawn.nodes.get(task.task_id);
    const [title, box, mark, name, state] = node.children;
    const tone = taskTone(task);
    const by = task.workstream && task.workstream !== task.task_id ? ` · ${task.workstream}` : '';
    setAttribute(node, 'data-tone', tone);
    setAttribute(node, 'transform', `translate(${x} ${y})`);
    setText(title, `${task.task_id} ${task.title}\n${taskWord(task)}${by}`);
    setAttribute(box, 'width', size.width);
    setAttribute(box, 'height', size.height);
    setAttribute(mark, 'd', marks[tone]);
    setAttribute(mark, 'transform', size.many ? 'translate(9 7)' : 'translate(11 10)');
    fit(name, `${task.task_id}  ${task.title}`, size.width - 36, '500 12px');
    fit(state, size.many ? '' : `${taskWord(task)}${by}`, size.width - 36, '11px');
    for (const [text, down] of [[name, size.many ? 16 : 19], [state, 35]]) {
      setAttribute(text, 'x', 28);
      setAttribute(text, 'y', down);
    }
  }

  // fit writes as much of a text as there is room for: SVG has no ellipsis of its own.
  function fit(node, text, room, font) {
    if (node.whole === text && node.room === room) return;
    node.whole = text;
    node.room = room;
    pen.font = `${font} ${getComputedStyle(document.body).fontFamily}`;
    let cut = text;
    while (cut && pen.measureText(cut === text ? cut : `${cut}…`).width > room) cut = cut.slice(0, Math.min(cut.length - 1, Math.ceil(cut.length * 0.95)));
    setText(node, cut === text ? text : `${cut.trimEnd()}…`);
  }

  // select shows what there is to know of a task, and what hangs together with it.
  function select(id) {
    selected = id;
    const kin = id ? family(id) : null;
    for (const node of nodeLayer.children) {
      node.classList.toggle('selected', node.dataset.id === id);
      node.classList.toggle('aside', kin !== null && !kin.has(node.dataset.id));
    }
    for (const path of edgeLayer.children) path.classList.toggle('aside', kin !== null && !(kin.has(path.edge.from.id) && kin.has(path.edge.to.id)));
    showTask(tasks.get(id));
  }

  function family(id) {
    const kin = new Set();
    for (const side of ['before', 'after']) {
      const todo = [drawn.nodes.get(id)];
      while (todo.length) {
        const node = todo.pop();
        if (!node) continue;
        kin.add(node.id);
        todo.push(...node[side].filter(other => side === 'before' || other.layer > node.layer));
      }
    }
    return kin;
  }

  function showTask(task) {
    const panel = byID('task');
    panel.hidden = !task;
    if (!task) return;
    if (!panel.firstChild) panel.append(el('h3'), el('dl', { class: 'detail' }));
    setText(panel.firstChild, `${task.task_id} ${task.title}`);
    terms(panel.lastChild, [
      ['State', taskWord(task)],
      ['Worker', task.workstream],
      ['Try', task.attempts > 0 ? `${task.attempts} of ${task.max_attempts}` : ''],
      ['Error', task.error_kind],
      ['Waits for', task.unmet_dependencies?.join(', ')],
      ['After', task.depends_on?.join(', ')],
      ['Scope', task.scope?.join('\n'), 'pre'],
      ['Check', task.verify, 'code'],
      ['Priority', task.priority],
      ['Took', task.duration_ms ? duration(task.duration_ms / 1000) : ''],
      ['Tokens', task.input_tokens + task.output_tokens ? quantity(task.input_tokens + task.output_tokens) : ''],
    ]);
  }

  // Arrow keys: left and right along the lines, up and down within a layer.
  function step(key) {
    const node = drawn?.nodes.get(selected);
    if (!node) return drawn?.nodes.values().next().value;
    const column = drawn.single.includes(node) ? drawn.single : drawn.layers[node.layer].filter(other => other.id);
    const at = column.indexOf(node);
    return { ArrowLeft: node.before[0], ArrowRight: node.after[0], ArrowUp: column[at - 1], ArrowDown: column[at + 1] }[key];
  }

  byID('graph').append(canvas);
  byID('graph').addEventListener('keydown', event => {
    if (event.key === 'Escape') return select('');
    if (!event.key.startsWith('Arrow')) return;
    event.preventDefault();
    const next = step(event.key);
    if (!next) return;
    select(next.id);
    nodeLayer.querySelector('.selected')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });
  new ResizeObserver(() => { if (tasks.size) draw(worthDrawing([...tasks.values()])); }).observe(byID('graph'));

  return { show };
})();
