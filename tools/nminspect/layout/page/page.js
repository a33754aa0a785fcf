// The map of a file. The data are in the element "data" (layout_page.cpp says how they are encoded).
'use strict';
(() => {
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId('data').textContent);

// --- regions: begin[i] to begin[i + 1] is region i; names[owner[i]] is its name ---
const count = data.kind_of.length;
const begin = new Float64Array(count + 1);
const kind = new Uint8Array(count);
const owner = new Int32Array(count);
const names = data.names;
{
  const lengths = data.lengths.split(' ');
  const steps = data.owners.split(' ');
  let last = 0;
  for (let i = 0; i < count; ++i) {
    begin[i + 1] = begin[i] + parseInt(lengths[i], 36);
    kind[i] = data.kind_of.charCodeAt(i) - 97;
    owner[i] = steps[i] === '-' ? -1 : (last += parseInt(steps[i], 36));
  }
}
const size = begin[count];
const kinds = data.kinds.map((name) => ({name, bytes: 0, regions: 0, shown: true}));
const odd = new Uint8Array(count);  // 1 for every other region of a kind, if the region has a name
for (let i = 0; i < count; ++i) {
  kinds[kind[i]].bytes += begin[i + 1] - begin[i];
  odd[i] = owner[i] >= 0 ? kinds[kind[i]].regions & 1 : 0;
  ++kinds[kind[i]].regions;
}
const used = kinds.map((_, k) => k).filter((k) => kinds[k].regions > 0);

function regionAt(position) {
  let low = 0, high = count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (begin[middle] <= position) low = middle; else high = middle - 1;
  }
  return low;
}

// --- texts ---
const whole = (n) => Math.round(n).toLocaleString('en-US');
function bytesText(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let u = 0;
  while (n >= 1024 && u + 1 < units.length) { n /= 1024; ++u; }
  return (u === 0 ? String(Math.round(n)) : n.toFixed(1)) + ' ' + units[u];
}
function shareText(part, all) {
  const percent = all > 0 ? 100 * part / all : 0;
  return percent > 0 && percent < 0.1 ? '< 0.1 %' : percent.toFixed(1) + ' %';
}
const nameOf = (i) => (owner[i] < 0 ? '' : names[owner[i]]);

// --- state ---
const map = byId('map'), strip = byId('whole'), search = byId('search');
const view = {from: 0, to: Math.max(size, 1)};
const kLeast = 64;                    // the fewest bytes that a view shows
let cursor = 0, hover = -1;           // regions
let matched = null, matches = 0;      // matched[o]: 1 if name o matches; null without a search
let colours = [], ink = {};
let geometry = null;

const clamp = (n, low, high) => Math.min(Math.max(n, low), Math.max(low, high));
function setView(from, to) {
  const length = clamp(to - from, Math.min(kLeast, size), size);
  view.from = clamp(from, 0, size - length);
  view.to = view.from + length;
  redraw();
}

// --- colours ---
function readColours() {
  const style = getComputedStyle(document.documentElement);
  const css = (name) => style.getPropertyValue(name).trim();
  const parts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const packed = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  ink = {page: css('--page'), text: css('--ink'), soft: css('--soft'), line: css('--line'), lane: css('--lane'),
         mark: css('--mark'), ring: css('--mark-ring')};
  const lane = parts(ink.lane);
  ink.lanePixel = packed(lane);
  ink.pagePixel = packed(parts(ink.page));
  const ofKinds = kinds.map((_, k) => parts(css('--k' + k)));
  const mixed = (rgb, share) => rgb.map((c, at) => Math.round(share * c + (1 - share) * lane[at]));
  colours = ofKinds.flatMap((rgb) => [rgb, mixed(rgb, 0.78), mixed(rgb, 0.2), mixed(rgb, 0.14)].map(packed));
  // Black or white, whichever has more contrast.
  const linear = (c) => (c <= 10 ? c / 3295 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  ink.onKind = ofKinds.map(([r, g, b]) => (0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) > 0.179 ? '#000000' : '#ffffff'));
}
// The colour of a region is colours[shadeOf(region)]. Each kind has four shades: every other region is a little paler,
// so that neighbours can be distinguished, and regions that a search does not find are pale.
function shadeOf(i) {
  const o = owner[i];
  return 4 * kind[i] + (matched && !(o >= 0 && matched[o]) ? 2 : 0) + odd[i];
}

// Paints the bytes from `from` to `to` as `rows` rows of `columns` pixels into `pixels`, an image of
// `stride` pixels a line. If a pixel column has several kinds, each kind has its share of the height,
// and at least one pixel.
function paint(pixels, stride, left, top, columns, rows, rowHeight, pitch, from, to) {
  const rowBytes = (to - from) / rows, step = rowBytes / columns;
  const shades = colours.length;
  const shares = new Float64Array(shades), heights = new Int32Array(shades);
  const colourOf = (shade) => (kinds[shade >> 2].shown ? colours[shade] : ink.lanePixel);
  let i = regionAt(from);
  for (let row = 0; row < rows; ++row) {
    const rowFrom = from + row * rowBytes;
    const y = top + row * pitch;
    for (let column = 0; column < columns;) {
      const at = rowFrom + column * step, end = at + step;
      while (i + 1 < count && begin[i + 1] <= at) ++i;
      if (begin[i + 1] >= end) {
        // The columns that lie in this region only.
        const to = clamp(Math.floor((begin[i + 1] - rowFrom) / step), column + 1, columns);
        const colour = colourOf(shadeOf(i));
        for (let line = 0; line < rowHeight; ++line) {
          const offset = (y + line) * stride + left;
          pixels.fill(colour, offset + column, offset + to);
        }
        column = to;
        continue;
      }
      shares.fill(0);
      let j = i;
      for (; j < count && begin[j] < end; ++j)
        shares[shadeOf(j)] += Math.min(end, begin[j + 1]) - Math.max(at, begin[j]);
      i = j - 1;
      let sum = 0, most = 0;
      for (let shade = 0; shade < shades; ++shade) {
        heights[shade] = shares[shade] > 0 ? Math.max(1, Math.round(rowHeight * shares[shade] / step)) : 0;
        sum += heights[shade];
        if (shares[shade] > shares[most]) most = shade;
      }
      heights[most] = Math.max(0, heights[most] + rowHeight - sum);
      let line = 0;
      for (let shade = shades - 1; shade >= 0; --shade) {
        const colour = colourOf(shade);
        for (let h = heights[shade]; h > 0 && line < rowHeight; --h, ++line)
          pixels[(y + line) * stride + left + column] = colour;
      }
      ++column;
    }
  }
}

function sizeCanvas(canvas) {
  const ratio = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
  const width = Math.max(1, Math.round(box.width * ratio)), height = Math.max(1, Math.round(box.height * ratio));
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  return ratio;
}

// Calls visit(x, y, width) for each part of a region in the view, in device pixels.
function eachPart(i, visit) {
  const g = geometry, bytes = (view.to - view.from) / g.rows;
  const from = Math.max(begin[i], view.from), to = Math.min(begin[i + 1], view.to);
  if (to <= from) return;
  const last = Math.min(g.rows - 1, Math.floor((to - view.from) / bytes));
  for (let row = Math.floor((from - view.from) / bytes); row <= last; ++row) {
    const rowFrom = view.from + row * bytes;
    const x = Math.max(0, (from - rowFrom) / bytes * g.columns);
    const end = Math.min(g.columns, (to - rowFrom) / bytes * g.columns);
    if (end > x) visit(g.left + x, g.top + row * g.pitch, end - x);
  }
}

function drawMap() {
  const ratio = sizeCanvas(map), context = map.getContext('2d');
  const px = (n) => Math.round(n * ratio);
  const pitch = px(22), rowHeight = px(18), left = px(96), top = px(3);
  const columns = Math.max(8, map.width - left - px(3));
  const rows = Math.max(1, Math.floor((map.height - top) / pitch));
  geometry = {ratio, pitch, rowHeight, left, top, columns, rows};
  const image = context.createImageData(map.width, map.height);
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(ink.pagePixel);
  paint(pixels, map.width, left, top, columns, rows, rowHeight, pitch, view.from, view.to);
  context.putImageData(image, 0, 0);

  // Where each row begins.
  context.font = px(11) + 'px system-ui, "DejaVu Sans", sans-serif';
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  context.fillStyle = ink.soft;
  const bytes = (view.to - view.from) / rows;
  for (let row = 0; row < rows; ++row)
    context.fillText(positionText(view.from + row * bytes, view.to, bytes), left - px(8), top + row * pitch + rowHeight / 2);

  // Names in parts that have room for them.
  context.textAlign = 'left';
  const room = px(40), first = regionAt(view.from);
  for (let i = first; i < count && begin[i] < view.to; ++i) {
    if ((begin[i + 1] - begin[i]) / bytes * columns < room || !kinds[kind[i]].shown) continue;
    let said = false;
    eachPart(i, (x, y, width) => {
      if (said || width < room) return;
      said = true;
      const text = fitted(context, nameOf(i) || kinds[kind[i]].name, width - px(10));
      if (!text) return;
      context.fillStyle = matched && !(owner[i] >= 0 && matched[owner[i]]) ? ink.soft : ink.onKind[kind[i]];
      context.fillText(text, x + px(5), y + rowHeight / 2);
    });
  }
  outline(context, hover, px(1), ratio);
  outline(context, cursor, px(2), ratio);
}

function fitted(context, text, width) {
  const each = context.measureText('x').width;
  if (text.length * each > 4 * width) text = text.slice(0, Math.ceil(4 * width / each));
  if (context.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(text.slice(0, middle) + '…').width <= width) low = middle; else high = middle - 1;
  }
  return low < 3 ? '' : text.slice(0, low) + '…';
}

// All rows have the unit of the last row, with enough digits to make them differ, or exact numbers if these are
// shorter.
function positionText(position, last, step) {
  const units = [['TiB', 2 ** 40], ['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]];
  const unit = units.find(([, length]) => last >= length);
  const digits = unit ? Math.max(0, Math.ceil(Math.log10(unit[1] / step)) + 1) : 0;
  return unit && digits <= 4 ? (position / unit[1]).toFixed(digits) + ' ' + unit[0] : whole(position);
}

function outline(context, i, width, ratio) {
  if (i < 0) return;
  for (const [colour, wide] of [[ink.ring, width + 2 * ratio], [ink.mark, width]]) {
    context.strokeStyle = colour;
    context.lineWidth = wide;
    eachPart(i, (x, y, length) =>
      context.strokeRect(Math.floor(x) - width / 2, y - width / 2, Math.max(length, ratio) + width, geometry.rowHeight + width));
  }
}

function drawStrip() {
  const ratio = sizeCanvas(strip), context = strip.getContext('2d');
  const edge = Math.round(3 * ratio), height = strip.height - 2 * edge, columns = strip.width - 2 * edge;
  const image = context.createImageData(strip.width, strip.height);
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(ink.pagePixel);
  paint(pixels, strip.width, edge, edge, columns, 1, height, height, 0, Math.max(size, 1));
  context.putImageData(image, 0, 0);
  const x = edge + view.from / size * columns, width = Math.max(3 * ratio, (view.to - view.from) / size * columns);
  context.lineWidth = 4 * ratio;
  context.strokeStyle = ink.ring;
  context.strokeRect(x, edge / 2, width, strip.height - edge);
  context.lineWidth = 2 * ratio;
  context.strokeStyle = ink.mark;
  context.strokeRect(x, edge / 2, width, strip.height - edge);
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    const started = performance.now();
    drawMap();
    drawStrip();
    showDetail(hover >= 0 ? hover : cursor);
    if (performance.getEntriesByName('redraw').length > 1000) performance.clearMeasures('redraw');
    performance.measure('redraw', {start: started, end: performance.now()});
  });
}

// --- the region in words ---
function showDetail(i) {
  const k = byId('d-kind'), box = document.createElement('span');
  box.className = 'swatch';
  box.style.background = 'var(--k' + kind[i] + ')';
  k.replaceChildren(box, kinds[kind[i]].name);
  byId('d-name').textContent = nameOf(i) || '–';
  byId('d-name').title = nameOf(i);
  const length = begin[i + 1] - begin[i];
  byId('d-bytes').textContent = length < 1024 ? whole(length) + ' B' : bytesText(length) + ' (' + whole(length) + ')';
  byId('d-place').textContent = whole(begin[i]) + ' to ' + whole(begin[i + 1]);
  byId('d-number').textContent = whole(i + 1) + ' of ' + whole(count);
}
function speak() {
  const name = nameOf(cursor);
  byId('spoken').textContent = kinds[kind[cursor]].name + (name ? ' of ' + name : '') + ', ' +
    bytesText(begin[cursor + 1] - begin[cursor]) + ' at ' + whole(begin[cursor]);
}

// Moves the cursor, and the view so that it shows the cursor. near: also zooms in if the region is
// too small to be seen.
function moveCursor(i, near) {
  cursor = clamp(i, 0, count - 1);
  hover = -1;
  const length = view.to - view.from, at = begin[cursor], bytes = begin[cursor + 1] - at;
  const pixel = length / (geometry.rows * geometry.columns);
  if (near && bytes < 8 * pixel * geometry.ratio) {
    const wanted = Math.max(kLeast, 16 * bytes * geometry.rows);
    setView(at - wanted / 2, at + wanted / 2);
  } else if (begin[cursor + 1] <= view.from || at >= view.to) {
    setView(at - length / 2, at + length / 2);
  }
  redraw();
  speak();
}

function zoom(factor, position, fraction) {
  const length = clamp((view.to - view.from) * factor, kLeast, size);
  setView(position - fraction * length, position + (1 - fraction) * length);
}
function zoomAtCursor(factor) {
  const middle = (begin[cursor] + begin[cursor + 1]) / 2;
  const inside = middle >= view.from && middle < view.to;
  const position = inside ? middle : (view.from + view.to) / 2;
  zoom(factor, position, (position - view.from) / (view.to - view.from));
}
const pan = (part) => { const step = part * (view.to - view.from); setView(view.from + step, view.to + step); };

// --- search ---
// Returns a test of names. A pattern is a glob as in nminspect; text without wildcards matches parts
// of names. Returns null for an invalid pattern.
function matcher(text) {
  if (!/[*?[\\]/.test(text)) return (name) => name.includes(text);
  let pattern = '^';
  for (let at = 0; at < text.length;) {
    const c = text[at];
    if (c === '*') {
      const begins = at === 0 || text[at - 1] === '/';
      let stars = 0;
      while (text[at] === '*') { ++at; ++stars; }
      if (stars === 1) pattern += '[^/]*';
      else if (begins && text[at] === '/') { pattern += '(?:.*/)?'; ++at; }
      else pattern += '.*';
    } else if (c === '?') {
      pattern += '[^/]';
      ++at;
    } else if (c === '[') {
      const set = /^\[([!^]?)(\]?(?:\\.|[^\]\\])*)\]/su.exec(text.slice(at));
      if (!set) return null;
      const members = set[2].replace(/\\(.)|([[\]^&~|])/gsu, (_, escaped, plain) => '\\' + (escaped || plain));
      pattern += set[1] ? '[^/' + members + ']' : '(?!/)[' + members + ']';
      at += set[0].length;
    } else {
      const literal = c === '\\' ? text[++at] : c;
      if (literal === undefined) return null;
      pattern += literal.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
      ++at;
    }
  }
  try {
    const expression = new RegExp(pattern + '$', 's');
    return (name) => expression.test(name);
  } catch { return null; }
}

function find() {
  const text = search.value, test = text ? matcher(text) : null;
  search.setAttribute('aria-invalid', String(Boolean(text && !test)));
  matched = null;
  matches = 0;
  if (test) {
    matched = new Uint8Array(names.length);
    for (let o = 0; o < names.length; ++o) if (test(names[o])) { matched[o] = 1; ++matches; }
  }
  byId('found').textContent = !text ? '' : !test ? 'not a valid pattern' : whole(matches) + ' of ' + whole(names.length) + ' names';
  redraw();
}

// Goes to the next region that has another matching name.
function nextMatch(step) {
  if (!matched || matches === 0) return;
  const hit = (i) => owner[i] >= 0 && matched[owner[i]];
  let i = cursor;
  for (let tried = 0; tried < count; ++tried) {
    i = (i + step + count) % count;
    if (hit(i) && (owner[i] !== owner[cursor] || matches === 1)) break;
  }
  if (hit(i)) moveCursor(i, true);
}

// --- input ---
function positionOf(event) {
  const box = map.getBoundingClientRect(), g = geometry;
  const x = clamp((event.clientX - box.left) * g.ratio - g.left, 0, g.columns - 0.001);
  const y = clamp((event.clientY - box.top) * g.ratio - g.top, 0, g.rows * g.pitch - 0.001);
  const fraction = (Math.floor(y / g.pitch) + x / g.columns) / g.rows;
  return {fraction, position: view.from + fraction * (view.to - view.from)};
}
let drag = null;
map.addEventListener('pointerdown', (event) => {
  if (event.button !== 0) return;
  drag = {x: event.clientX, y: event.clientY, from: view.from, to: view.to, moved: false};
  map.setPointerCapture(event.pointerId);
});
map.addEventListener('pointermove', (event) => {
  if (drag) {
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y, g = geometry;
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    drag.moved = true;
    map.classList.add('dragged');
    const step = (dx * g.ratio / g.columns + dy * g.ratio / g.pitch) / g.rows * (drag.to - drag.from);
    setView(drag.from - step, drag.to - step);
    return;
  }
  hover = regionAt(positionOf(event).position);
  redraw();
});
map.addEventListener('pointerup', (event) => {
  if (drag && !drag.moved) moveCursor(regionAt(positionOf(event).position), false);
  drag = null;
  map.classList.remove('dragged');
});
map.addEventListener('pointercancel', () => { drag = null; map.classList.remove('dragged'); });
map.addEventListener('pointerleave', () => { hover = -1; redraw(); });
map.addEventListener('dblclick', (event) => { const at = positionOf(event); zoom(0.25, at.position, at.fraction); });
map.addEventListener('wheel', (event) => {
  event.preventDefault();
  const at = positionOf(event);
  zoom(Math.exp(clamp(event.deltaY, -200, 200) * 0.003), at.position, at.fraction);
}, {passive: false});

let sliding = false;
function slide(event) {
  const box = strip.getBoundingClientRect(), length = view.to - view.from;
  const at = clamp((event.clientX - box.left) / box.width, 0, 1) * size;
  setView(at - length / 2, at + length / 2);
}
strip.addEventListener('pointerdown', (event) => { sliding = true; strip.setPointerCapture(event.pointerId); slide(event); });
strip.addEventListener('pointermove', (event) => { if (sliding) slide(event); });
strip.addEventListener('pointerup', () => { sliding = false; });
strip.addEventListener('pointercancel', () => { sliding = false; });

map.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const rowBytes = (view.to - view.from) / geometry.rows;
  // The region a row above or below the cursor; at least the next one.
  const rowStep = (sign) => {
    const i = regionAt(clamp(begin[cursor] + sign * rowBytes, 0, size - 1));
    moveCursor(i === cursor ? cursor + sign : i, false);
  };
  const moves = {
    ArrowLeft: () => (event.shiftKey ? pan(-0.1) : moveCursor(cursor - 1, false)),
    ArrowRight: () => (event.shiftKey ? pan(0.1) : moveCursor(cursor + 1, false)),
    ArrowUp: () => (event.shiftKey ? setView(view.from - rowBytes, view.to - rowBytes) : rowStep(-1)),
    ArrowDown: () => (event.shiftKey ? setView(view.from + rowBytes, view.to + rowBytes) : rowStep(1)),
    PageUp: () => pan(-1), PageDown: () => pan(1),
    Home: () => moveCursor(0, false), End: () => moveCursor(count - 1, false),
    Enter: () => nextMatch(event.shiftKey ? -1 : 1),
  };
  if (!moves[event.key]) return;
  event.preventDefault();
  moves[event.key]();
});
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target === search) return;
  const actions = {
    '+': () => zoomAtCursor(0.5), '=': () => zoomAtCursor(0.5), '-': () => zoomAtCursor(2), '_': () => zoomAtCursor(2),
    '0': () => setView(0, size), '/': () => { search.focus(); search.select(); },
    'Escape': () => { search.value = ''; find(); },
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
});
search.addEventListener('input', find);
search.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') { event.preventDefault(); nextMatch(event.shiftKey ? -1 : 1); }
  if (event.key === 'Escape') { event.preventDefault(); search.value = ''; find(); map.focus(); }
});
byId('tools').addEventListener('submit', (event) => event.preventDefault());
byId('in').addEventListener('click', () => zoomAtCursor(0.5));
byId('out').addEventListener('click', () => zoomAtCursor(2));
byId('fit').addEventListener('click', () => setView(0, size));

// --- the parts that do not change ---
byId('title').textContent = data.file;
byId('facts').textContent = [data.format, bytesText(size) + ' (' + whole(size) + ' bytes)',
  ...(data.generation ? ['generation ' + whole(data.generation)] : []),
  whole(names.length) + (names.length === 1 ? ' name' : ' names'), whole(count) + (count === 1 ? ' region' : ' regions')].join(' · ');
for (const k of used) {
  const item = document.createElement('li'), button = document.createElement('button');
  const part = (name, text) => {
    const span = document.createElement('span');
    span.className = name;
    span.textContent = text;
    button.append(span);
    return span;
  };
  button.type = 'button';
  button.dataset.kind = kinds[k].name;
  button.setAttribute('aria-pressed', 'true');
  part('swatch', '').style.background = 'var(--k' + k + ')';
  part('name', kinds[k].name);
  part('share', shareText(kinds[k].bytes, size));
  part('more', bytesText(kinds[k].bytes) + ' in ' + whole(kinds[k].regions) + (kinds[k].regions === 1 ? ' region' : ' regions'));
  button.addEventListener('click', () => {
    kinds[k].shown = !kinds[k].shown;
    button.setAttribute('aria-pressed', String(kinds[k].shown));
    redraw();
  });
  item.append(button);
  byId('legend').append(item);
}
new ResizeObserver(redraw).observe(byId('frame'));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readColours(); redraw(); });
readColours();
redraw();
})();
