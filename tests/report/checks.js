// Done in the page by browser.py, which defines `expected`.
'use strict';

const wrong = [];
const all = (selector) => [...document.querySelectorAll(selector)];
const check = (holds, what) => { if (!holds) wrong.push(what); };
const pause = () => new Promise((resolve) => { setTimeout(resolve, 50); });

// The texts of charts.
const drawn = new Set();
const {fillText} = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.fillText = function spy(text, ...place) {
  drawn.add(text);
  fillText.call(this, text, ...place);
};

async function until(holds, what) {
  for (let i = 0; i < 200; ++i) {
    if (holds()) return;
    await pause();
  }
  throw new Error(`never: ${what}`);
}

function set(name, value) {
  const field = document.querySelector(`[name="${name}"]`);
  field.value = value;
  field.dispatchEvent(new Event(field.tagName === 'SELECT' ? 'change' : 'input'));
}

function checkCurves() {
  let points = 0;
  for (const box of all('#curves ~ .charts .chart')) {
    for (const {label, data, isBand} of box.drawn.data.datasets) {
      if (isBand) continue;
      const metric = label.replace(/^reported \(\d\): /, '');
      if (metric === 'time_s/other') continue;  // what the phases leave of the iteration
      const recorded = expected.metrics.filter((line) => typeof line[metric] === 'number');
      check(recorded.length === data.length, `${label} has ${data.length} of ${recorded.length} points`);
      recorded.forEach((line, i) => check(line[metric] === data[i].y && line.iteration === data[i].x, `${label} is ${data[i].y}, not ${line[metric]}`));
      points += data.length;
    }
  }
  check(points > 20, `${points} points are drawn`);
  check(drawn.has('reinforce') && drawn.has('search'), 'the curves do not name the stages');
}

function checkSummary() {
  const claim = (metric) => document.querySelector(`[data-metric="${metric}"]`).textContent;
  check(claim('reward/mean').endsWith('1.4 → 2.6 (+1.2, 95 %: +0.5299 to +1.87)'), `it claims: ${claim('reward/mean')}`);
  check(claim('kernel/pass_rate').endsWith(': no difference is shown)'), `it claims: ${claim('kernel/pass_rate')}`);
}

function checkColours() {
  const curve = all('.chart').flatMap((box) => box.drawn.data.datasets).find((set) => set.label === 'verdict/ok');
  const mark = all('.verdicts .verdict').find((verdict) => verdict.textContent === 'ok');
  check(mark.style.getPropertyValue('--verdict').trim() === curve.borderColor, 'a verdict has two colours');
}

const counted = () => document.querySelector('.filters span').textContent;
const cell = (row, column) => all('.answers tbody tr')[row].children[column].textContent;

async function checkAnswers() {
  check(counted().startsWith(`${expected.answers} answers`), `it says: ${counted()}`);
  set('verdict', 'ok');
  check(counted().startsWith(`${expected.right} answers`), `of the right ones it says: ${counted()}`);
  check(all('.answers tbody tr').every((row) => row.children[3].textContent === 'ok'), 'others are shown among the right ones');
  set('order', 'score');
  check(Number(cell(0, 4)) >= Number(cell(49, 4)), 'the highest score does not come first');
  document.querySelector('[name="on"]').click();
  check(counted().includes('page 2 of'), `after a step it says: ${counted()}`);
  set('from', '3');
  all('.answers tbody tr')[0].click();
  await until(() => document.querySelector('.detail .verdict'), 'an opened answer');
  const detail = document.querySelector('.detail').textContent;
  check(detail.includes('__global__') && detail.includes('Prompt') && detail.includes(cell(0, 1)), 'the opened answer lacks a part');
  set('verdict', '');
  check(Number(cell(0, 0)) >= 3, 'an earlier iteration is shown');
}

// From a best kernel to its answer, and back.
async function checkLinks() {
  const {task, source} = expected.best[expected.best.length - 1];
  set('best', task);
  document.querySelector('.best a').click();
  await until(() => document.querySelector('.detail a'), 'the answer of a best kernel');
  const code = all('.detail code').map((block) => block.textContent);
  check(code.some((text) => text.includes(source)), `the answer of the best kernel is ${code}`);
  set('best', expected.best[0].task);
  document.querySelector('.detail a').click();
  check(document.querySelector('[name="best"]').value === task, 'an answer leads to the best kernel of another task');
}

// The second iteration is not in the page, the first one with the best kernels is.
async function checkLimit() {
  const limit = document.querySelector('.limit').textContent;
  check(limit.includes('the texts of 1 of 6 iterations') && limit.includes('kernelrl runs export'), `of what it leaves out it says: ${limit}`);
  set('from', '2');
  set('to', '2');
  all('.answers tbody tr')[0].click();
  await until(() => document.querySelector('.detail').textContent.includes('samples/iteration_000002.jsonl'), 'where an answer is that was left out');
}

function checkVerdicts() {
  all('.verdicts tbody tr a').find((link) => link.textContent !== '0').click();
  const [task, verdict] = ['task', 'verdict'].map((name) => document.querySelector(`[name="${name}"]`).value);
  check(task && verdict && all('.answers tbody tr').every((row) => row.children[1].textContent === task), 'a click on a count shows other answers');
}

function checkTasks() {
  const names = () => all('.tasks')[0].querySelectorAll('tbody tr')[0].dataset.task;
  const first = names();
  all('.tasks th')[0].click();
  check(names() !== first, 'a click on a column does not sort');
}

async function checks() {
  await until(() => document.body.dataset.ready, 'a page that is ready');
  check(all('[src], link').length === 0, 'the page asks for other files');
  check(all('section').length >= 6, 'a section is missing');
  check(document.querySelector('#comparison ~ p').textContent.includes('1.000 times as fast'), 'a run differs from itself');
  check(document.querySelector('.best code').textContent.length > 0, 'no kernel is shown');
  checkSummary();
  checkCurves();
  checkColours();
  await checkAnswers();
  checkTasks();
  checkVerdicts();
  await checkLinks();
  await checkLimit();
}

checks().catch((error) => wrong.push(error.message)).finally(() => {
  const output = document.createElement('output');
  output.id = 'checks';
  output.textContent = wrong.length ? wrong.slice(0, 20).join('\n') : 'ok';
  document.body.append(output);
});
