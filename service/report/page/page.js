// Shows the runs that the page carries. They are compressed: `data` at once, the samples of an iteration when one of them is opened.
'use strict';

const COLOURS = ['#1f6feb', '#d9480f', '#2b8a3e', '#862e9c', '#c2255c', '#0b7285', '#e67700', '#5f3dc4', '#495057', '#087f5b', '#a61e4d',
                 '#364fc7'];
const Z = 1.96;  // of an interval of 95 %
const PAGE = 50;

// ---- elements and numbers -----------------------------------------------------------------------

function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

function number(value) {
  if (!isNumber(value)) return '–';
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  return Math.abs(value) < 0.001 || Math.abs(value) >= 1e6 ? value.toExponential(2) : value.toPrecision(4).replace(/\.?0+$/, '');
}

const factor = (value) => (isNumber(value) ? value.toFixed(2) : '–');

function time(ns) {
  if (!isNumber(ns)) return '–';
  if (ns < 1e3) return `${ns.toFixed(0)} ns`;
  return ns < 1e6 ? `${(ns / 1e3).toFixed(2)} µs` : `${(ns / 1e6).toFixed(2)} ms`;
}

function table(head, rows, attributes) {
  return h('div', {class: 'scrolled'}, h('table', attributes, h('thead', {}, h('tr', {}, head.map((cell) => h('th', {}, cell)))),
    h('tbody', {}, rows.map((row) => h('tr', {}, row.map((cell) => h('td', {}, cell)))))));
}

function code(text) {
  const block = h('code', {class: 'language-cpp'}, text);
  window.hljs.highlightBlock(block);
  return h('pre', {}, block);
}

function select(name, values, chosen, onchange) {
  return h('select', {name, onchange: (event) => onchange(event.target.value)},
    values.map(([value, label]) => h('option', {value, selected: value === chosen ? '' : undefined}, label)));
}

async function unpacked(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

// ---- what the runs hold -------------------------------------------------------------------------

// The values of a metric by iteration.
function series(run, metric) {
  return run.metrics.filter((line) => isNumber(line[metric])).map((line) => ({x: line.iteration, y: line[metric]}));
}

function metricsLike(runs, pattern) {
  const names = new Set();
  for (const run of runs) for (const line of run.metrics) for (const name of Object.keys(line)) if (pattern.test(name)) names.add(name);
  return [...names].sort();
}

const firstOf = (points) => (points.length ? points[0].y : undefined);
const lastOf = (points) => (points.length ? points[points.length - 1].y : undefined);

// Of the samples of each iteration: interval of the share that is right (Wilson's), or of the mean of a column.
function intervals(run, what) {
  const {columns, verdicts} = run.samples;
  const right = verdicts.indexOf('ok');
  const lost = verdicts.indexOf('infra_error');
  const values = new Map();
  columns.iteration.forEach((iteration, i) => {
    if (columns.verdict[i] === lost) return;
    const value = what === 'right' ? Number(columns.verdict[i] === right) : columns[what][i];
    if (!isNumber(value)) return;
    if (!values.has(iteration)) values.set(iteration, []);
    values.get(iteration).push(value);
  });
  const bands = {low: [], high: []};
  for (const [x, all] of values) {
    const n = all.length;
    const m = mean(all);
    let middle = m;
    let half = n > 1 ? Z * Math.sqrt(mean(all.map((value) => (value - m) ** 2)) / (n - 1)) : 0;
    if (what === 'right') {
      const wide = 1 + Z * Z / n;
      middle = (m + Z * Z / (2 * n)) / wide;
      half = Z / wide * Math.sqrt(m * (1 - m) / n + Z * Z / (4 * n * n));
    }
    bands.low.push({x, y: middle - half});
    bands.high.push({x, y: middle + half});
  }
  return bands;
}

function tasksOf(run) {
  const names = metricsLike([run], /^task\/.+\/pass_rate$/).map((name) => name.slice(5, -10));
  return names.map((task) => {
    const points = (figure) => series(run, `task/${task}/${figure}`);
    const best = run.best.find((kernel) => kernel.task === task);
    const [passes, speeds, shares] = [points('pass_rate'), points('best_speedup'), points('best_roofline')];
    return {
      task, best, first: {passes: firstOf(passes), speedup: firstOf(speeds), share: firstOf(shares)},
      last: {passes: lastOf(passes), speedup: lastOf(speeds), share: lastOf(shares)},
      speedup: best ? best.speedup : undefined, share: best ? best.roofline : undefined,
    };
  });
}

// ---- sections -----------------------------------------------------------------------------------

const sections = [];

function section(id, title, ...content) {
  sections.push([id, title]);
  return h('section', {}, h('h2', {id}, title), content);
}

// A change of a metric, from the mean of its first three values to that of its last three.
function change(run, metric, label) {
  const values = series(run, metric).map((point) => point.y);
  if (values.length < 2) return null;
  const few = Math.min(3, Math.floor(values.length / 2));
  const [before, after] = [mean(values.slice(0, few)), mean(values.slice(-few))];
  return h('li', {}, `${label}: ${number(before)} → ${number(after)}`);
}

function listed(label, tasks) {
  return tasks.length ? h('li', {}, `${label}: ${tasks.map((task) => task.task).join(', ')}`) : null;
}

function summary(run) {
  const tasks = tasksOf(run);
  const start = run.starts && run.starts[0];
  const machine = start && start.machine;
  const device = run.best.length ? run.best[0].evaluation.device : '';
  const iterations = run.metrics.length ? run.metrics[run.metrics.length - 1].iteration : 0;
  return h('div', {class: 'run'}, h('h3', {}, run.name),
    h('p', {class: 'muted'}, [`${run.state}, ${iterations} iterations`, start ? `begun ${start.time}` : '',
      machine ? `${machine.processor}, ${machine.cores} cores` : '', device ? `times of ${device}` : '', run.message]
      .filter((text) => text).join('; ')),
    h('ul', {},
      change(run, 'reward/mean', 'mean reward, first → last iterations'),
      change(run, 'kernel/pass_rate', 'share of kernels that are right'),
      change(run, 'kernel/speedup_geomean', 'speedup of the right ones (geometric mean)'),
      change(run, 'sampler/entropy', 'entropy of all answers'),
      h('li', {}, `tasks with a right kernel: ${tasks.filter((task) => task.best).length} of ${tasks.length}; faster than naive by more `
        + `than 2 %: ${tasks.filter((task) => task.speedup > 1.02).length}`),
      listed('never right', tasks.filter((task) => !task.best)),
      listed('no faster than naive', tasks.filter((task) => task.best && !(task.speedup > 1.02))),
      listed('right less often at the end than at the beginning', tasks.filter((task) => task.last.passes < task.first.passes - 0.05))));
}

const CHARTS = [
  ['Reward', ['reward/mean'], {band: 'score'}],
  ['Reward by term', /^reward\/.+\/mean$/],
  ['Kernels that compile, that are right', ['kernel/compile_rate', 'kernel/pass_rate'], {band: 'right'}],
  ['Right, by tier', /^tier_\d+\/pass_rate$/],
  ['Right, by turn', /^turn_\d+\/pass_rate$/],
  ['Verdicts', /^verdict\//, {stacked: true}],
  ['Speedup of right kernels', ['kernel/speedup_geomean', 'kernel/speedup_median']],
  ['Best so far: speedup', ['found/best_speedup']],
  ['Share of the roofline: mean, best so far', ['kernel/roofline', 'found/best_roofline']],
  ['Records', ['found/records']],
  ['Distinct answers', ['answers/new', 'answers/distinct', 'answers/distinct_in_group']],
  ['Length of answers, in tokens', ['response_length/mean', 'response_length/max']],
  ['Cut off', ['response_length/clip_ratio']],
  ['Entropy of all answers', ['sampler/entropy', 'actor/entropy']],
  ['Divergence', ['actor/kl', 'actor/ppo_kl']],
  ['Loss', ['actor/loss', 'actor/pg_loss', 'sft/loss']],
  ['Gradient', ['actor/grad_norm']],
  ['Learning rate', ['actor/lr']],
  ['Groups without a lesson', ['groups/dropped', 'groups/zero_variance', 'groups/below_noise']],
  ['Withheld cells filled', ['withheld/filled', 'withheld/cells']],
  ['Hold-outs', /^holdout\/.+\/(pass_rate|speedup_geomean|roofline)$/],
  ['Seconds', /^time_s\/(?!iteration$|search$)/, {stacked: true}],
  ['Infrastructure errors', ['infra_errors', 'sampler/lost', 'sampler/refused']],
];

function chart(title, runs, metrics, options = {}) {
  const datasets = [];
  runs.forEach((run, r) => metrics.forEach((metric, m) => {
    const data = series(run, metric);
    // Of many metrics, those that were always 0 only hide the others.
    if (!data.length || (metrics.length > 3 && data.every((point) => point.y === 0))) return;
    const colour = COLOURS[(runs.length > 1 ? r + m * runs.length : m) % COLOURS.length];
    const label = runs.length > 1 ? `${run.name}: ${metric}` : metric;
    datasets.push({label, data, borderColor: colour, backgroundColor: options.stacked ? `${colour}80` : colour, borderWidth: 1.5,
                   pointRadius: data.length > 40 ? 0 : 2, fill: options.stacked ? 'stack' : false});
    const banded = options.band && m === metrics.length - 1;
    if (!banded) return;
    const {low, high} = intervals(run, options.band);
    const band = {borderWidth: 0, pointRadius: 0, backgroundColor: `${colour}26`, isBand: true};
    datasets.push({...band, label: `${label}, low`, data: low, fill: false}, {...band, label: `${label}, high`, data: high, fill: '-1'});
  }));
  if (!datasets.length) return null;
  const isFlat = datasets.every((set) => set.data.every((point) => point.y === 0));
  const canvas = h('canvas', {});
  const box = h('div', {class: 'chart'}, h('h3', {}, title), h('div', {}, canvas));
  const ink = getComputedStyle(document.body).getPropertyValue('--muted');
  const drawn = new window.Chart(canvas, {
    type: 'line', data: {datasets},
    options: {
      animation: false, parsing: false, maintainAspectRatio: false, interaction: {mode: 'index', intersect: false},
      scales: {x: {type: 'linear', ticks: {color: ink, precision: 0}}, y: {stacked: Boolean(options.stacked), ...(isFlat ? {min: 0, max: 1} : {}), ticks: {color: ink}}},
      plugins: {
        legend: {labels: {color: ink, boxWidth: 10, filter: (item) => !datasets[item.datasetIndex].isBand}},
        tooltip: {filter: (item) => !item.dataset.isBand, callbacks: {label: (item) => `${item.dataset.label}: ${number(item.parsed.y)}`}},
        decimation: {enabled: true, algorithm: 'min-max'},
      },
    },
  });
  box.drawn = drawn;
  return box;
}

function curves(runs) {
  const charts = h('div', {class: 'charts'});
  for (const [title, metrics, options] of CHARTS) {
    // Stacks of several runs would hide each other.
    const shown = options && options.stacked ? runs.map((run) => [run]) : [runs];
    for (const some of shown) {
      const names = Array.isArray(metrics) ? metrics : metricsLike(some, metrics);
      const box = chart(shown.length > 1 ? `${title}: ${some[0].name}` : title, some, names, options);
      if (box) charts.append(box);
    }
  }
  const place = h('div', {class: 'charts'});
  const names = metricsLike(runs, /\//);
  const choice = select('metric', [['', 'choose a metric …'], ...names.map((name) => [name, name])], '', (metric) => {
    const box = metric && chart(metric, runs, [metric]);
    place.replaceChildren(...(box ? [box] : []));
  });
  return [charts, h('h3', {}, 'Any metric'), choice, place];
}

function taskTable(run) {
  const columns = [
    ['task', (task) => task.task, (text) => text],
    ['right: first', (task) => task.first.passes, number], ['last', (task) => task.last.passes, number],
    ['speedup: first', (task) => task.first.speedup, factor], ['best', (task) => task.speedup, factor],
    ['roofline: first', (task) => task.first.share, factor], ['best', (task) => task.share, factor],
    ['best found in', (task) => task.best && task.best.iteration, number],
  ];
  const tasks = tasksOf(run);
  const body = h('tbody', {});
  let [by, direction] = [0, 1];
  const fill = () => {
    const value = columns[by][1];
    const order = [...tasks].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === y) return 0;
      if (x === undefined || x === null) return 1;
      return y === undefined || y === null || x < y ? -direction : direction;
    });
    body.replaceChildren(...order.map((task) => h('tr', {'data-task': task.task}, columns.map(([, read, show]) => h('td', {}, show(read(task)))))));
  };
  fill();
  const head = columns.map(([name], i) => h('th', {class: 'sortable', onclick: () => {
    [by, direction] = [i, by === i ? -direction : 1];
    fill();
  }}, name));
  return h('div', {class: 'scrolled'}, h('table', {class: 'tasks'}, h('thead', {}, h('tr', {}, head)), body));
}

function evaluationOf(kernel) {
  const {evaluation} = kernel;
  const valueOf = (name, index) => (evaluation.values || []).find((value) => value.name === name && value.case === index);
  const rows = [];
  (evaluation.cases || []).forEach((one, index) => {
    if (!isNumber(one.time_ns)) return;
    const share = valueOf('roofline', index);
    rows.push([one.label, time(one.baseline_ns), time(one.time_ns), factor(one.speedup),
               isNumber(one.speedup_low) ? `${factor(one.speedup_low)} to ${factor(one.speedup_high)}` : '–', factor(share && share.value)]);
  });
  const counters = (evaluation.values || []).filter((value) => (value.case || 0) <= 0)
    .map((value) => [value.name, `${number(value.value)} ${value.unit || ''}`]);
  return [table(['case', 'naive', 'best', 'speedup', 'interval', 'roofline'], rows),
          h('details', {}, h('summary', {}, 'Counters of the first case'), table(['counter', 'value'], counters))];
}

function lineageOf(kernel) {
  if (!kernel.lineage || !kernel.lineage.length) return null;
  const how = (one) => (one.tuned ? 'tuned' : one.fresh ? 'fresh' : 'edited');
  return h('details', {}, h('summary', {}, `How it was found: ${kernel.lineage.map((one) =>
    `${how(one)} ${factor(one.speedup)} (iteration ${one.iteration})`).join(' → ')}`),
  kernel.lineage.map((one) => [h('h3', {}, `${how(one)}, iteration ${one.iteration}: ${factor(one.speedup)} times naive`), code(one.source)]));
}

function bestKernels(run) {
  const place = h('div', {class: 'best'});
  const show = (task) => {
    const kernel = run.best.find((one) => one.task === task);
    place.replaceChildren(
      h('p', {}, `${factor(kernel.speedup)} times as fast as the naive kernel, ${factor(kernel.roofline)} of the roofline; iteration ${kernel.iteration}`),
      h('div', {class: 'two'}, h('div', {}, h('h3', {}, 'Best'), code(kernel.source)),
        h('div', {}, h('h3', {}, 'Naive'), kernel.naive ? code(kernel.naive) : h('p', {class: 'muted'}, 'not known'))),
      ...[evaluationOf(kernel), lineageOf(kernel)].flat(Infinity).filter((part) => part));
  };
  if (!run.best.length) return h('p', {class: 'muted'}, 'No kernel was right.');
  const tasks = run.best.map((kernel) => kernel.task);
  show(tasks[0]);
  return [select('best', tasks.map((task) => [task, task]), tasks[0], show), place];
}

// Of two runs: the ratio of their best speedups by task, and an interval of its geometric mean by a bootstrap over the tasks.
function comparison(first, other) {
  const theirs = new Map(tasksOf(other).map((task) => [task.task, task]));
  const shared = tasksOf(first).filter((task) => theirs.has(task.task));
  const both = shared.filter((task) => task.speedup > 0 && theirs.get(task.task).speedup > 0);
  const logs = both.map((task) => Math.log(theirs.get(task.task).speedup / task.speedup));
  const rows = shared.map((task) => {
    const there = theirs.get(task.task);
    return [task.task, number(task.last.passes), number(there.last.passes), factor(task.speedup), factor(there.speedup),
            factor(there.speedup / task.speedup)];
  });
  let text = 'They have no task with a right kernel in common.';
  if (logs.length) {
    let state = 1;
    const random = () => { state = (state * 48271) % 2147483647; return state / 2147483647; };
    const means = Array.from({length: 2000}, () => mean(logs.map(() => logs[Math.floor(random() * logs.length)]))).sort((a, b) => a - b);
    const [low, high] = [means[50], means[1949]].map(Math.exp);
    const verdict = low > 1 ? `${other.name} is faster` : high < 1 ? `${first.name} is faster` : 'no difference is shown';
    text = `Best kernels of ${other.name} against ${first.name}: ${factor(Math.exp(mean(logs)))} times as fast over ${logs.length} tasks `
      + `(95 %: ${factor(low)} to ${factor(high)}): ${verdict}.`;
  }
  return [h('h3', {}, `${first.name} and ${other.name}`), h('p', {}, text),
          table(['task', `right: ${first.name}`, other.name, `speedup: ${first.name}`, other.name, 'ratio'], rows, {class: 'compared'})];
}

// ---- episodes -----------------------------------------------------------------------------------

// An answer in its parts: thought, text and kernels.
function answerParts(text) {
  const parts = [];
  const pattern = /<think>([\s\S]*?)(?:<\/think>|$)|```[a-z+]*\n([\s\S]*?)(?:```|$)/g;
  let end = 0;
  const prose = (piece) => { if (piece.trim()) parts.push(h('pre', {class: 'prose'}, piece.trim())); };
  for (const found of text.matchAll(pattern)) {
    prose(text.slice(end, found.index));
    parts.push(found[2] === undefined ? h('pre', {class: 'prose muted'}, found[1].trim()) : code(found[2]));
    end = found.index + found[0].length;
  }
  prose(text.slice(end));
  return parts;
}

function turnParts(sample) {
  const good = sample.verdict === 'ok';
  const terms = Object.entries(sample.terms || {}).map(([name, value]) => [name, number(value)]);
  return [h('h3', {}, `Turn ${sample.turn}: `, h('span', {class: good ? 'good' : 'bad'}, sample.verdict)),
    h('p', {}, [`score ${number(sample.score)}`, `speedup ${factor(sample.speedup)}`, `roofline ${factor(sample.roofline)}`,
                `${sample.tokens} tokens`, sample.strategies].filter((text) => text).join(', ')),
    sample.why ? h('pre', {class: 'prose'}, sample.why) : null,
    table(['term', 'value'], terms),
    h('h3', {}, 'Prompt'), (sample.prompt || []).map((message) => h('pre', {class: 'prose'}, message)),
    h('h3', {}, 'Answer'), answerParts(sample.answer)];
}

function episodes(runs) {
  const filter = {run: 0, task: '', verdict: '', from: '', to: '', order: 'iteration'};
  let page = 0;
  let rows = [];
  const body = h('tbody', {});
  const count = h('span', {class: 'muted'});
  const detail = h('div', {class: 'detail'}, h('p', {class: 'muted'}, 'Choose an episode.'));
  const filters = h('div', {class: 'filters'});

  const samplesOf = async (iteration) => JSON.parse(await unpacked(`samples-${filter.run}-${iteration}`));

  async function open(row) {
    const {columns} = runs[filter.run].samples;
    const samples = await samplesOf(columns.iteration[row]);
    const same = samples.filter((sample) => sample.task === runs[filter.run].samples.tasks[columns.task[row]]
      && sample.group === columns.group[row] && sample.member === columns.member[row]);
    detail.replaceChildren(h('h3', {}, `${same[0].task}, iteration ${columns.iteration[row]}, group ${same[0].group}, member ${same[0].member}`),
      ...same.flatMap(turnParts).flat(Infinity).filter((part) => part));
  }

  function show() {
    const {columns, tasks, verdicts} = runs[filter.run].samples;
    const shown = rows.slice(page * PAGE, (page + 1) * PAGE);
    body.replaceChildren(...shown.map((row) => h('tr', {class: 'choice', onclick: (event) => {
      body.querySelectorAll('.chosen').forEach((other) => other.classList.remove('chosen'));
      event.currentTarget.classList.add('chosen');
      open(row);
    }}, [columns.iteration[row], tasks[columns.task[row]], columns.turn[row],
         h('span', {class: verdicts[columns.verdict[row]] === 'ok' ? 'good' : 'bad'}, verdicts[columns.verdict[row]]),
         number(columns.score[row]), factor(columns.speedup[row]), number(columns.tokens[row])].map((cell) => h('td', {}, cell)))));
    const pages = Math.max(1, Math.ceil(rows.length / PAGE));
    count.textContent = `${rows.length} answers, page ${page + 1} of ${pages}`;
  }

  function apply() {
    const {columns, tasks, verdicts} = runs[filter.run].samples;
    const [task, verdict] = [tasks.indexOf(filter.task), verdicts.indexOf(filter.verdict)];
    const [from, to] = [Number(filter.from || 0), Number(filter.to || Infinity)];
    rows = [];
    columns.iteration.forEach((iteration, i) => {
      if (iteration < from || iteration > to) return;
      if ((filter.task && columns.task[i] !== task) || (filter.verdict && columns.verdict[i] !== verdict)) return;
      rows.push(i);
    });
    if (filter.order !== 'iteration') {
      const column = columns[filter.order];
      rows.sort((a, b) => (isNumber(column[b]) ? column[b] : -Infinity) - (isNumber(column[a]) ? column[a] : -Infinity));
    }
    page = 0;
    show();
  }

  const turn = (step) => { page = Math.min(Math.max(0, page + step), Math.max(0, Math.ceil(rows.length / PAGE) - 1)); show(); };
  const set = (name) => (value) => { filter[name] = value; apply(); };
  function fillFilters() {
    const {tasks, verdicts} = runs[filter.run].samples;
    const named = (names) => [['', 'all'], ...[...names].sort().map((name) => [name, name])];
    filters.replaceChildren(
      ...(runs.length > 1 ? [h('label', {}, 'run', select('run', runs.map((run, i) => [String(i), run.name]), String(filter.run), (value) => {
        Object.assign(filter, {run: Number(value), task: '', verdict: ''});
        fillFilters();
        apply();
      }))] : []),
      h('label', {}, 'task', select('task', named(tasks), filter.task, set('task'))),
      h('label', {}, 'verdict', select('verdict', named(verdicts), filter.verdict, set('verdict'))),
      h('label', {}, 'iterations', h('input', {type: 'number', name: 'from', oninput: (event) => set('from')(event.target.value)}), 'to',
        h('input', {type: 'number', name: 'to', oninput: (event) => set('to')(event.target.value)})),
      h('label', {}, 'order', select('order', [['iteration', 'by iteration'], ['score', 'highest score'], ['speedup', 'fastest'],
        ['tokens', 'longest']], filter.order, set('order'))),
      h('button', {name: 'back', onclick: () => turn(-1)}, '‹'), h('button', {name: 'on', onclick: () => turn(1)}, '›'), count);
  }
  fillFilters();
  apply();
  const head = ['iteration', 'task', 'turn', 'verdict', 'score', 'speedup', 'tokens'];
  return [filters, h('div', {class: 'episodes'},
    h('div', {class: 'scrolled'}, h('table', {class: 'answers'}, h('thead', {}, h('tr', {}, head.map((cell) => h('th', {}, cell)))), body)), detail)];
}

// ---- the page -----------------------------------------------------------------------------------

async function show() {
  const libraries = h('script', {}, await unpacked('libraries'));
  document.head.append(libraries);
  const {runs} = JSON.parse(await unpacked('data'));
  document.title = `${runs.map((run) => run.name).join(', ')} – kernelrl`;
  const many = runs.length > 1;
  const each = (make) => runs.map((run) => [many ? h('h3', {}, run.name) : null, make(run)]);
  const parts = [
    section('summary', 'In short', runs.map(summary)),
    many ? section('comparison', 'Compared', runs.slice(1).map((run) => comparison(runs[0], run))) : null,
    section('curves', 'Curves', curves(runs)),
    section('tasks', 'Tasks', each(taskTable)),
    section('best', 'Best kernels', each(bestKernels)),
    section('episodes', 'Answers', episodes(runs)),
    section('plan', 'Plan', runs.map((run) => h('details', {}, h('summary', {}, run.name), h('pre', {}, run.plan)))),
  ];
  document.querySelector('main').replaceChildren(...parts.filter((part) => part));
  document.querySelector('nav').replaceChildren(...sections.map(([id, title]) => h('a', {href: `#${id}`}, title)));
  document.body.dataset.ready = 'yes';
}

show().catch((error) => {
  document.querySelector('main').replaceChildren(h('p', {class: 'bad'}, `The report cannot be shown: ${error.message}. It needs a browser of 2023 or later.`));
  throw error;
});
