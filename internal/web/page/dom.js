// How the page is built and kept up to date. Whatever comes from a run is put in
// as text or as the value of an attribute, never as markup.
'use strict';

const byID = id => document.getElementById(id);

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

function fill(node, attributes = {}, children) {
  for (const [name, value] of Object.entries(attributes)) setAttribute(node, name, value);
  node.append(...children);
  return node;
}

// The setters leave alone what is right already, so that a look at an unchanged run
// costs no layout and moves no selection.
function setText(node, text) {
  text = String(text ?? '');
  if (node.textContent !== text) node.textContent = text;
}

function setAttribute(node, name, value) {
  if (value === undefined || value === null || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

function setStyle(node, name, value) {
  if (node.style.getPropertyValue(name) !== String(value)) node.style.setProperty(name, value);
}

// keyed makes the children of a node those of a list. An item keeps its element, found by its key, for as long as it is listed.
function keyed(parent, items, keyOf, make, update) {
  const known = parent.known ??= new Map();
  const listed = new Map(items.map(item => [String(keyOf(item)), item]));
  for (const [key, node] of known) {
    if (listed.has(key)) continue;
    node.remove();
    known.delete(key);
  }
  let next = parent.firstChild;
  for (const [key, item] of listed) {
    let node = known.get(key);
    if (!node) known.set(key, node = make(item));
    if (node === next) next = next.nextSibling;
    else parent.insertBefore(node, next);
    update(node, item);
  }
}

// terms fills a definition list with the pairs that have a value.
function terms(list, pairs) {
  const said = pairs.filter(([, value]) => value !== undefined && value !== null && value !== '');
  keyed(list, said, ([term]) => term,
    ([term, , tag = 'span']) => el('div', { 'data-term': term }, el('dt', {}, term), el('dd', {}, el(tag, { tabindex: tag === 'pre' ? 0 : null }))),
    (row, [, value]) => setText(row.lastChild.firstChild, value));
}

// remembered is a set that outlives the page, where the browser lets it.
function remembered(name) {
  const read = () => {
    try { return JSON.parse(localStorage.getItem(name)) ?? []; } catch { return []; }
  };
  const all = new Set(read());
  return {
    has: key => all.has(key),
    put(key, on) {
      if (on) all.add(key); else all.delete(key);
      try { localStorage.setItem(name, JSON.stringify([...all])); } catch { /* then it is kept until the page ends */ }
    },
  };
}
