// Shows the runs that the page carries. They are compressed: `data` at once, the samples of an iteration when one of them is opened.
'use strict';

const COLOURS = {blue: '#1f6feb', orange: '#d9480f', green: '#2b8a3e', purple: '#862e9c', pink: '#c2255c', teal: '#0b7285', amber: '#e67700',
                 violet: '#5f3dc4', grey: '#495057', olive: '#66a80f', red: '#e03131', brown: '#a9713b', navy: '#364fc7', silver: '#868e96'};
const CURVE_COLOURS = Object.values(COLOURS);
const VERDICT_COLOURS = {ok: COLOURS.green, wrong_result: COLOURS.red, compile_error: COLOURS.amber, format_error: COLOURS.silver,
                         runtime_fault: COLOURS.purple, timeout: COLOURS.violet, flagged: COLOURS.pink, rejected: COLOURS.brown,
                         launch_error: COLOURS.teal, nondeterministic: COLOURS.navy, resource_limit: COLOURS.olive, infra_error: COLOURS.grey};
const Z = 1.96;  // of an interval of 95 %
const FEW = 3;  // iterations at the beginning and at the end that are compared
const PAGE = 50;  // answers
const PHASES = ['rollout', 'learn', 'tune'];  // of an iteration; `other` is what they leave of it

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
  return Math.abs(value) < 0.001 || Math.abs(value) >= 1e6 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}

const signed = (value) => `${value > 0 ? '+' : ''}${number(value)}`.replace(/^-/, '−');
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

function verdictMark(verdict) {
  return h('span', {class: 'verdict', style: `--verdict: ${VERDICT_COLOURS[verdict] || COLOURS.grey}`}, verdict);
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

// Student's t of an interval of 95 %, within 1 % from 3 degrees of freedom on (the expansion of Cornish and Fisher).
const student = (freedom) => Z + 2.372 / freedom + 2.823 / freedom ** 2 + 2.556 / freedom ** 3;

// Half of the interval of the difference between two means of `few` values of a curve. The noise of a value is estimated from the steps
// between neighbours (von Neumann), to which a trend adds little.
function halfInterval(points, few) {
  const n = points.length;
  if (few < FEW) return undefined;
  const noise = points.slice(1).reduce((sum, point, i) => sum + (point.y - points[i].y) ** 2, 0) / (2 * (n - 1));
  return student(2 * (n - 1) ** 2 / (3 * n - 4)) * Math.sqrt(noise * 2 / few);
}

// The means of the first and of the last few values of a curve, half of the interval of their difference, and the iterations that they span.
function ends(points) {
  if (!points.length) return {};
  const few = Math.max(1, Math.min(FEW, Math.floor(points.length / 2)));
  const [before, after] = [points.slice(0, few), points.slice(-few)];
  return {first: mean(before.map((point) => point.y)), last: mean(after.map((point) => point.y)), half: halfInterval(points, few),
          firstEnd: before[few - 1].x, lastBegin: after[0].x, many: points.length > 1};
}

// Of the samples of each iteration: interval of the share that is right (Wilson's), or of the mean of a column.
function intervals(run, what) {
  const {columns, verdicts} = run.samples;
  const right = verdicts.indexOf('ok');
  const lost = verdicts.indexOf('infra_error');
  const values = new Map();
  columns.iteration.forEach((iteration, i) => {
    if (columns.verdict[i] === lost || columns.tuned[i] || run.samples.left_out[iteration]) return;
    const value = what === 'right' ? Number(columns.verdict[i] === right) : columns[what][i];
    if (!isNumber(value)) return;
    if (!values.has(iteration)) values.set(iteration, []);
    values.get(iteration).push(value);
  });
  const bands = {low: [], high: []};
  for (const [x, all] of values) {
    const n = all.length;
    if (n < 2) continue;
    const m = mean(all);
    let middle = m;
    let half = Z * Math.sqrt(mean(all.map((value) => (value - m) ** 2)) / (n - 1));
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

// Is a share that fell from the first iterations to the last ones too far down to be chance?
function hasFallen(run, task, passes) {
  const {columns, tasks} = run.samples;
  const number = tasks.indexOf(task);
  const counted = (holds) => columns.iteration.filter((iteration, i) => columns.task[i] === number && !columns.tuned[i] && holds(iteration)).length;
  const [before, after] = [counted((x) => x <= passes.firstEnd), counted((x) => x >= passes.lastBegin)];
  if (!passes.many || !before || !after) return false;
  const variance = (p, n) => p * (1 - p) / n;
  return passes.first - passes.last > Z * Math.sqrt(variance(passes.first, before) + variance(passes.last, after));
}

function tasksOf(run) {
  const names = metricsLike([run], /^task\/.+\/pass_rate$/).map((name) => name.slice(5, -10));
  return names.map((task) => {
    const points = (figure) => series(run, `task/${task}/${figure}`);
    const best = run.best.find((kernel) => kernel.task === task);
    const passes = ends(points('pass_rate'));
    const [speeds, shares] = [points('best_speedup'), points('best_roofline')];
    return {
      task, best, passes, fell: hasFallen(run, task, passes), isRight: points('pass_rate').some((point) => point.y > 0),
      firstSpeedup: speeds.length ? speeds[0].y : undefined, firstShare: shares.length ? shares[0].y : undefined,
      speedup: best && isNumber(best.speedup) ? best.speedup : undefined, share: best ? best.roofline : undefined,
    };
  });
}

const iterationsOf = (run) => (run.metrics.length ? run.metrics[run.metrics.length - 1].iteration : 0);
const isEstimated = (kernel) => (kernel.evaluation.cases || []).some((one) => one.estimated);

// ---- sections -----------------------------------------------------------------------------------

const sections = [];
const links = {best: []};  // functions by which a section shows something in another

function section(id, title, ...content) {
  sections.push([id, title]);
  return h('section', {}, h('h2', {id}, title), content);
}

function change(run, metric, label) {
  const {first, last, many, half} = ends(series(run, metric));
  if (first === undefined) return null;
  if (!many) return h('li', {}, `${label}: ${number(last)}`);
  const difference = last - first;
  const interval = `${signed(difference)}, 95 %: ${signed(difference - half)} to ${signed(difference + half)}`;
  const claim = half === undefined ? 'too few iterations for an interval'
    : Math.abs(difference) > half ? interval : `${interval}: no difference is shown`;
  return h('li', {'data-metric': metric}, `${label}: ${number(first)} → ${number(last)} (${claim})`);
}

// Where the time went, as shares of all iterations.
function phases(run) {
  const sums = [...PHASES, 'other'].map((phase) => [phase, series(run, `time_s/${phase}`).reduce((sum, point) => sum + point.y, 0)]);
  const all = sums.reduce((sum, [, seconds]) => sum + seconds, 0);
  if (!all) return null;
  return h('li', {}, `time: ${number(all / 60)} min: ${sums.filter(([, seconds]) => seconds > 0.005 * all)
    .map(([phase, seconds]) => `${phase} ${(100 * seconds / all).toFixed(0)} %`).join(', ')}`);
}

function listed(label, tasks) {
  return tasks.length ? h('li', {}, `${label}: ${tasks.map((task) => task.task).join(', ')}`) : null;
}

function summary(run) {
  const tasks = tasksOf(run);
  const start = run.starts && run.starts[0];
  const machine = start && start.machine;
  const device = run.best.length ? `${isEstimated(run.best[0]) ? 'times estimated for' : 'times of'} ${run.best[0].evaluation.device}` : '';
  return h('div', {class: 'run'}, h('h3', {}, run.label),
    h('p', {class: 'muted'}, [`${run.state}, ${iterationsOf(run)} iterations`, start ? `begun ${start.time}` : '',
      machine ? `${machine.processor}, ${machine.cores} cores` : '', device, run.state === 'finished' ? '' : run.message]
      .filter((text) => text).join('; ')),
    h('ul', {},
      change(run, 'sft/loss', 'loss of the warm-up'),
      change(run, 'reward/mean', `mean reward, first → last ${FEW} iterations`),
      change(run, 'kernel/pass_rate', 'share of kernels that are right'),
      change(run, 'kernel/speedup_geomean', 'speedup of the right ones (geometric mean)'),
      change(run, 'sampler/entropy', 'entropy of all answers'),
      phases(run),
      tasks.length ? h('li', {}, `tasks with a right kernel: ${tasks.filter((task) => task.isRight).length} of ${tasks.length}; faster than naive by `
        + `more than 2 %, at the lower end of the interval: ${tasks.filter((task) => task.speedup > 1.02).length}`) : null,
      listed('never right', tasks.filter((task) => !task.isRight)),
      listed('right, but no kernel stood a second evaluation', tasks.filter((task) => task.isRight && !task.best)),
      listed('not shown to be faster than naive', tasks.filter((task) => task.speedup <= 1.02)),
      listed('right less often at the end, by more than chance', tasks.filter((task) => task.fell))));
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
  ['Hold-outs: right', /^holdout\/.+\/pass_rate$/],
  ['Hold-outs: speedup', /^holdout\/.+\/speedup_geomean$/],
  ['Seconds', [...PHASES, 'other'].map((phase) => `time_s/${phase}`), {stacked: true}],
  ['Mean wait of an episode for its turn, in seconds', ['time_s/waiting']],
  ['Infrastructure errors', ['infra_errors', 'sampler/lost', 'sampler/refused']],
];

// Where stages begin: names by iteration, of runs that have several.
function stageStarts(runs) {
  const starts = new Map();
  for (const {metrics} of runs) {
    const begins = metrics.filter((line, i) => i === 0 || line.stage !== metrics[i - 1].stage);
    if (begins.length < 2) continue;
    for (const {iteration, stage} of begins) starts.set(iteration, (starts.get(iteration) || new Set()).add(stage));
  }
  return starts;
}

// Draws a line with its name where a stage begins.
const stageLines = (runs, ink, ground) => ({id: 'stages', afterDatasetsDraw({ctx, chartArea, scales}) {
  ctx.save();
  [ctx.strokeStyle, ctx.font] = [ink, '11px system-ui, sans-serif'];
  ctx.setLineDash([3, 3]);
  for (const [iteration, names] of stageStarts(runs)) {
    const x = scales.x.getPixelForValue(iteration);
    if (x < chartArea.left || x > chartArea.right) continue;
    ctx.beginPath();
    ctx.moveTo(x, chartArea.top);
    ctx.lineTo(x, chartArea.bottom);
    ctx.stroke();
    const name = [...names].join(', ');
    const {width} = ctx.measureText(name);
    const left = x + width + 4 < chartArea.right ? x + 4 : x - width - 4;
    ctx.fillStyle = `${ground}b0`;  // the curves behind it stay visible
    ctx.fillRect(left, chartArea.top, width, 13);
    ctx.fillStyle = ink;
    ctx.fillText(name, left, chartArea.top + 10);
  }
  ctx.restore();
}});

function chart(title, runs, metrics, options = {}) {
  const datasets = [];
  runs.forEach((run, r) => metrics.forEach((metric, m) => {
    const data = series(run, metric);
    // Verdicts that never came only hide the others.
    const verdict = metric.startsWith('verdict/') && metric.slice(8);
    if (!data.length || (verdict && data.every((point) => point.y === 0))) return;
    const colour = VERDICT_COLOURS[verdict] || CURVE_COLOURS[(runs.length > 1 ? r : m) % CURVE_COLOURS.length];
    const label = runs.length > 1 ? `${run.label}: ${metric}` : metric;
    datasets.push({label, data, borderColor: colour, borderDash: runs.length > 1 && m > 0 ? [2 + 4 * m, 3] : [], backgroundColor: options.stacked ? `${colour}80` : colour, borderWidth: 1.5,
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
  const [ink, ground] = ['--muted', '--ground'].map((name) => getComputedStyle(document.body).getPropertyValue(name));
  const drawn = new window.Chart(canvas, {
    type: 'line', data: {datasets}, plugins: [stageLines(runs, ink, ground)],
    options: {
      animation: false, parsing: false, maintainAspectRatio: false, interaction: {mode: 'nearest', axis: 'x', intersect: false},
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
      const box = chart(shown.length > 1 ? `${title}: ${some[0].label}` : title, some, names, options);
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
    [`right: first ${FEW}`, (task) => task.passes.first, number], [`last ${FEW}`, (task) => task.passes.last, number],
    ['speedup: first', (task) => task.firstSpeedup, factor], ['best', (task) => task.speedup, factor],
    ['roofline: first', (task) => task.firstShare, factor], ['best', (task) => task.share, factor],
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

// How often each task's kept answers had which verdict; a click shows those answers.
function verdictTable(run, index) {
  const {columns, tasks, verdicts} = run.samples;
  const counts = tasks.map(() => verdicts.map(() => 0));
  columns.task.forEach((task, i) => { counts[task][columns.verdict[i]] += 1; });
  const order = (names) => names.map((name, i) => [name, i]).sort(([a], [b]) => (a < b ? -1 : 1));
  return table(['task', ...order(verdicts).map(([name]) => verdictMark(name))], order(tasks).map(([task, row]) =>
    [task, ...order(verdicts).map(([verdict, column]) => h('a', {href: '#episodes', onclick: () => links.answers(index, task, verdict)},
      String(counts[row][column])))]), {class: 'verdicts'});
}

function evaluationOf(kernel) {
  const {evaluation} = kernel;
  const valueOf = (name, index) => (evaluation.values || []).find((value) => value.name === name && value.case === index);
  const rows = [];
  (evaluation.cases || []).forEach((one, index) => {
    if (!isNumber(one.time_ns)) return;
    const share = valueOf('roofline', index);
    rows.push([one.label, time(one.baseline_ns), time(one.time_ns), factor(one.speedup),
               one.estimated ? 'estimated' : isNumber(one.speedup_low) ? `${factor(one.speedup_low)} to ${factor(one.speedup_high)}` : '–',
               factor(share && share.value)]);
  });
  const counters = (evaluation.values || []).filter((value) => (value.case || 0) <= 0)
    .map((value) => [value.name, `${number(value.value)} ${value.unit || ''}`]);
  return [table(['case', 'naive', 'best', 'speedup', 'interval', 'roofline'], rows),
          h('details', {}, h('summary', {}, 'Counters of the first case'), table(['counter', 'value'], counters))];
}

function lineageOf(kernel) {
  if (!kernel.lineage || !kernel.lineage.length)
    return h('p', {class: 'muted'}, 'How it was found is not known: the run has no archive, or has left the kernel out.');
  const how = (one) => (one.tuned ? 'tuned' : one.fresh ? 'fresh' : 'edited');
  return h('details', {}, h('summary', {}, `How it was found: ${kernel.lineage.map((one) =>
    `${how(one)} ${factor(one.speedup)} (iteration ${one.iteration})`).join(' → ')}`),
  kernel.lineage.map((one) => [h('h3', {}, `${how(one)}, iteration ${one.iteration}: ${factor(one.speedup)} times naive`), code(one.source)]));
}

function bestKernels(run, index) {
  const place = h('div', {class: 'best'});
  const show = (task) => {
    const kernel = run.best.find((one) => one.task === task);
    place.replaceChildren(
      h('p', {}, `${factor(kernel.speedup)} times as fast as the naive kernel (geometric mean of the lower ends), ${factor(kernel.roofline)} of the `
        + `roofline; iteration ${kernel.iteration}`,
      isNumber(kernel.row) ? [', ', h('a', {href: '#episodes', onclick: () => links.answer(index, kernel.row)}, 'the answer that wrote it')] : null),
      h('div', {class: 'two'}, h('div', {}, h('h3', {}, 'Best'), code(kernel.source)),
        h('div', {}, h('h3', {}, 'Naive'), kernel.naive ? code(kernel.naive) : h('p', {class: 'muted'}, 'not known'))),
      ...[evaluationOf(kernel), lineageOf(kernel)].flat(Infinity).filter((part) => part));
  };
  if (!run.best.length) return h('p', {class: 'muted'}, 'There is none.');
  const tasks = run.best.map((kernel) => kernel.task);
  show(tasks[0]);
  const choice = select('best', tasks.map((task) => [task, task]), tasks[0], show);
  links.best[index] = (task) => {
    choice.value = task;
    show(task);
  };
  return [choice, place];
}

function comparison(first, other) {
  const {error, iterations, tasks, paired, few, ratio, low, high} = other.comparison;
  const title = h('h3', {}, `${first.label} and ${other.label}`);
  if (error) return [title, h('p', {}, `They cannot be compared: ${error}.`)];
  const notes = [`After ${iterations} iterations of each; shares that are right are means over the last 10.`];
  if (paired >= 2) {
    const verdict = few ? 'too few tasks to tell' : low > 1 ? `${other.label} is faster` : high < 1 ? `${first.label} is faster`
      : 'no difference is shown';
    notes.push(`Best kernels of ${other.label} against ${first.label}: ${ratio.toFixed(3)} times as fast over ${paired} tasks (95 % over the tasks: `
      + `${low.toFixed(3)} to ${high.toFixed(3)}): ${verdict}. Another seed may differ by more.`);
  }
  const only = (here, there) => tasks.filter(({speedups}) => speedups[here] && !speedups[there]).map(({task}) => task);
  for (const [here, there, run] of [[0, 1, first], [1, 0, other]])
    if (only(here, there).length) notes.push(`Solved by ${run.label} alone: ${only(here, there).join(', ')}.`);
  const device = (run) => run.best.length && run.best[0].evaluation.device;
  if (device(first) && device(other) && device(first) !== device(other)) notes.push('Their kernels were timed on different devices.');
  const ratioOf = ([one, two]) => (isNumber(one) && isNumber(two) ? two / one : undefined);
  return [title, h('p', {}, notes.join(' ')),
          table(['task', `right: ${first.label}`, other.label, `speedup: ${first.label}`, other.label, 'ratio'], tasks.map(({task, passes, speedups}) =>
            [task, ...passes.map(number), ...speedups.map(factor), factor(ratioOf(speedups))]), {class: 'compared'})];
}

// ---- episodes -----------------------------------------------------------------------------------

// An answer in its parts: thought, text and kernels.
function answerParts(text) {
  const parts = [];
  // A prompt may have begun the thought.
  const pattern = /(?:<think>|^(?![\s\S]*<think>)(?=[\s\S]*<\/think>))([\s\S]*?)(?:<\/think>|$)|```[^\n`]*\n([\s\S]*?)(?:```|$)/g;
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
  const terms = Object.entries(sample.terms || {}).map(([name, value]) => [name, number(value)]);
  return [h('h3', {}, sample.tuned_from ? 'Tuned, by no policy: ' : `Turn ${sample.turn}: `, verdictMark(sample.verdict)),
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
  const limit = h('p', {class: 'limit'});
  const detail = h('div', {class: 'detail'}, h('p', {class: 'muted'}, 'Choose an episode.'));
  const filters = h('div', {class: 'filters'});

  let opened = 0;
  const kept = {};  // the samples of the last iteration
  const idOf = (iteration) => `samples-${filter.run}-${iteration}`;
  const isLeftOut = (iteration) => !document.getElementById(idOf(iteration));
  async function samplesOf(iteration) {
    const id = idOf(iteration);
    if (kept.id !== id) Object.assign(kept, {samples: JSON.parse(await unpacked(id)), id});
    return kept.samples;
  }

  async function open(row) {
    const mine = ++opened;
    const {folder, best, samples: {columns, tasks}} = runs[filter.run];
    const [iteration, task, group, member] = [columns.iteration[row], tasks[columns.task[row]], columns.group[row], columns.member[row]];
    const title = h('h3', {}, `${task}, iteration ${iteration}, group ${group}, member ${member}`);
    if (isLeftOut(iteration)) {
      detail.replaceChildren(title, h('p', {}, 'Its text is not in this page, which has room for a part of the answers. It is in ',
        h('code', {}, `${folder}/samples/iteration_${String(iteration).padStart(6, '0')}.jsonl`), '.'));
      return;
    }
    const samples = await samplesOf(iteration);
    if (mine !== opened) return;
    const isSame = (other) => columns.iteration[other] === iteration && tasks[columns.task[other]] === task && columns.group[other] === group
      && columns.member[other] === member;
    const [run, kernel] = [filter.run, best.find((one) => isNumber(one.row) && isSame(one.row))];
    detail.replaceChildren(title,
      ...(kernel ? [h('p', {}, h('a', {href: '#best', onclick: () => links.best[run](task)}, `It has the best kernel of ${task}.`))] : []),
      ...samples.filter((sample) => sample.task === task && sample.group === group && sample.member === member)
        .flatMap(turnParts).flat(Infinity).filter((part) => part));
  }

  function show() {
    const {folder, samples: {columns, tasks, verdicts, left_out: leftOut}} = runs[filter.run];
    const shown = rows.slice(page * PAGE, (page + 1) * PAGE);
    body.replaceChildren(...shown.map((row) => h('tr', {class: 'choice', onclick: (event) => {
      body.querySelectorAll('.chosen').forEach((other) => other.classList.remove('chosen'));
      event.currentTarget.classList.add('chosen');
      open(row).catch((error) => detail.replaceChildren(h('p', {class: 'bad'}, `It cannot be shown: ${error.message}`)));
    }}, [columns.iteration[row], tasks[columns.task[row]], columns.tuned[row] ? 'tuned' : columns.turn[row],
         verdictMark(verdicts[columns.verdict[row]]),
         number(columns.score[row]), factor(columns.speedup[row]), number(columns.tokens[row])].map((cell) => h('td', {}, cell)))));
    const pages = Math.max(1, Math.ceil(rows.length / PAGE));
    const lost = Object.values(leftOut).reduce((sum, more) => sum + more, 0);
    count.textContent = `${rows.length} answers, page ${page + 1} of ${pages}${lost ? `; ${lost} more of the run were not kept` : ''}`;
    const iterations = [...new Set(columns.iteration)];
    const without = iterations.filter(isLeftOut).length;
    limit.textContent = without ? `To limit its size, this page leaves out the texts of ${without} of ${iterations.length} iterations; figures and `
      + `counts are of all. The files in ${folder}/samples have all texts; \`kernelrl runs export ${folder} FOLDER\` makes tables of them.` : '';
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
      ...(runs.length > 1 ? [h('label', {}, 'run', select('run', runs.map((run, i) => [String(i), run.label]), String(filter.run), (value) => {
        filter.run = Number(value);
        const {tasks: theirTasks, verdicts: theirVerdicts} = runs[filter.run].samples;
        if (!theirTasks.includes(filter.task)) filter.task = '';
        if (!theirVerdicts.includes(filter.verdict)) filter.verdict = '';
        fillFilters();
        apply();
      }))] : []),
      h('label', {}, 'task', select('task', named(tasks), filter.task, set('task'))),
      h('label', {}, 'verdict', select('verdict', named(verdicts), filter.verdict, set('verdict'))),
      h('label', {}, 'iterations', h('input', {type: 'number', name: 'from', value: filter.from, oninput: (event) => set('from')(event.target.value)}), 'to',
        h('input', {type: 'number', name: 'to', value: filter.to, oninput: (event) => set('to')(event.target.value)})),
      h('label', {}, 'order', select('order', [['iteration', 'by iteration'], ['score', 'highest score'], ['speedup', 'fastest'],
        ['tokens', 'longest']], filter.order, set('order'))),
      h('button', {name: 'back', onclick: () => turn(-1)}, '‹'), h('button', {name: 'on', onclick: () => turn(1)}, '›'), count);
  }
  links.answer = (run, row) => {
    const {columns, tasks, verdicts} = runs[run].samples;
    links.answers(run, tasks[columns.task[row]], verdicts[columns.verdict[row]]);
    page = Math.floor(rows.indexOf(row) / PAGE);
    show();
    body.children[rows.indexOf(row) % PAGE].click();
  };
  links.answers = (run, task, verdict) => {
    Object.assign(filter, {run, task, verdict, from: '', to: ''});
    fillFilters();
    apply();
  };
  fillFilters();
  apply();
  const head = ['iteration', 'task', 'turn', 'verdict', 'score', 'speedup', 'tokens'];
  return [filters, limit, h('div', {class: 'episodes'},
    h('div', {class: 'scrolled'}, h('table', {class: 'answers'}, h('thead', {}, h('tr', {}, head.map((cell) => h('th', {}, cell)))), body)), detail)];
}

// ---- the page -----------------------------------------------------------------------------------

async function show() {
  const libraries = h('script', {}, await unpacked('libraries'));
  document.head.append(libraries);
  const {runs} = JSON.parse(await unpacked('data'));
  runs.forEach((run, i) => {
    const isOnly = runs.every((other) => other === run || other.name !== run.name);
    run.label = isOnly ? run.name : `${run.name} (${i + 1})`;
    for (const line of run.metrics) {
      if (!isNumber(line['time_s/iteration'])) continue;
      const known = PHASES.reduce((sum, phase) => sum + (line[`time_s/${phase}`] || 0), 0);
      line['time_s/other'] = Math.max(0, line['time_s/iteration'] - known);
    }
  });
  document.title = `${runs.map((run) => run.name).join(', ')} – kernelrl`;
  const many = runs.length > 1;
  const each = (make) => runs.map((run, i) => [many ? h('h3', {}, run.label) : null, make(run, i)]);
  const parts = [
    section('summary', 'In short', runs.map(summary)),
    many ? section('comparison', 'Compared', runs.slice(1).map((run) => comparison(runs[0], run))) : null,
    section('curves', 'Curves', curves(runs)),
    section('tasks', 'Tasks', each(taskTable)),
    section('verdicts', 'Verdicts by task', each(verdictTable)),
    section('best', 'Best kernels', each(bestKernels)),
    section('episodes', 'Answers', episodes(runs)),
    section('plan', 'Plan', runs.map((run) => h('details', {}, h('summary', {}, run.label), h('pre', {}, run.plan)))),
  ];
  document.querySelector('main').replaceChildren(...parts.filter((part) => part));
  document.querySelector('nav').replaceChildren(...sections.map(([id, title]) => h('a', {href: `#${id}`}, title)));
  document.body.dataset.ready = 'yes';
}

show().catch((error) => {
  document.querySelector('main').replaceChildren(h('p', {class: 'bad'}, `The report cannot be shown: ${error.message}. It needs a browser of 2023 or later.`));
  throw error;
});
