// Done in the page by browser.py, which defines `expected`.
'use strict';

const wrong = [];
const all = (selector) => [...document.querySelectorAll(selector)];
const check = (holds, what) => { if (!holds) wrong.push(what); };
const pause = () => new Promise((resolve) => { setTimeout(resolve, 50); });

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
  all('.answers tbody tr')[0].click();
  await until(() => document.querySelector('.detail .good'), 'an opened answer');
  const detail = document.querySelector('.detail').textContent;
  check(detail.includes('__global__') && detail.includes('Prompt') && detail.includes(cell(0, 1)), 'the opened answer lacks a part');
  set('verdict', '');
  set('from', '2');
  check(Number(cell(0, 0)) >= 2, 'an earlier iteration is shown');
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
  checkCurves();
  await checkAnswers();
  checkTasks();
  checkVerdicts();
}

checks().catch((error) => wrong.push(error.message)).finally(() => {
  const output = document.createElement('output');
  output.id = 'checks';
  output.textContent = wrong.length ? wrong.slice(0, 20).join('\n') : 'ok';
  document.body.append(output);
});
