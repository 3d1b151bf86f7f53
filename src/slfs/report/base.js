// Shared by all parts: the facts, helpers that make elements, number formats.

const facts = JSON.parse(document.getElementById("facts").textContent);
const byId = (id) => document.getElementById(id);
const SVG = byId("drawing").namespaceURI;

/** Make an element. Children that are strings become text; attributes that are functions become listeners. */
function element(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

function drawn(tag, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), attributes, children);
}

function dress(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

const whole = (value) => value.toLocaleString("en-US");
const figure = (value) => (value === null || value === undefined ? "–" : String(value));
/** Whether the target is a number, whose bins take the place of classes. */
const isNumber = facts.noun === "target";
const ENTROPY = isNumber ? "entropy of the bins" : "class entropy";
/** Information about the class as a share of the class entropy, the largest possible value. */
const ofClassEntropy = (nats) =>
  (nats === null || !facts.class_entropy ? "" : `${((100 * nats) / facts.class_entropy).toFixed(1)}%`);
/** A q-value as a percentage, with more digits where rounding would cross the limit of a grade of evidence. */
function fdr(value) {
  if (value < 1e-4) return "< 0.01%";
  const grade = (share) => [0.01, 1, 5, 20].filter((limit) => share > limit).length;
  const share = 100 * value;
  let digits = 2;
  while (digits < 17 && grade(Number(share.toPrecision(digits))) !== grade(share)) digits += 1;
  return `${Number(share.toPrecision(digits))}%`;
}
const percent = (share) => `${(100 * share).toFixed(1)}%`;
/** Cut a long text in the middle: long names often differ at their end only. */
function shortened(text, most) {
  if (text.length <= most) return text;
  const end = Math.floor((most - 1) / 3);
  return `${text.slice(0, most - 1 - end)}…${text.slice(text.length - end)}`;
}
const plural = (count, word) => `${whole(count)} ${word}${count === 1 ? "" : "s"}`;
const sum = (values) => values.reduce((total, value) => total + value, 0);

/** The index of each selected column among the nodes of the tree. */
const nodeOfColumn = new Map(facts.nodes.map((node, index) => [node.column, index]));

/** The role of a column, and the class of its colour. */
const roleOf = (column) => facts.roles[facts.columns.role[column]];
const toneOf = (column) => facts.role_words[roleOf(column)].tone;
const swatch = () => element("span", { class: "swatch", "aria-hidden": "true" });

/** A small bar for a share of 1. */
function shareBar(share) {
  return drawn("svg", { class: "share", "aria-hidden": "true" },
    drawn("rect", { width: "100%", height: "100%", rx: 3, class: "track" }),
    drawn("rect", { width: `${(100 * Math.min(1, share)).toFixed(1)}%`, height: "100%", rx: 3, class: "bar" }));
}

/** The parts of a text, with numbers such as "< 1e-09" in elements that are not broken over two lines. */
const unbroken = (text) => text.split(/((?:\w+ )?[<=] [\d.]+(?:e-\d+)?%?)/).map((part, index) =>
  (index % 2 ? element("span", { class: "unbroken" }, part) : part));

const FDR_MEANING = "FDR (q-value): expected share of irrelevant columns among those that are at least as significant.";

/** Explain why a column was selected or dropped: fill a sentence template with the figures of the column. */
function explanation(column) {
  const columns = facts.columns;
  const values = {
    name: () => `“${columns.name[column]}”`,
    other: () => `“${columns.name[columns.other[column]]}”`,
    reason: () => facts.reasons[columns.reason[column]],
    relevance_share: () => `${Math.round(100 * columns.relevance_share[column])}%`,
    relevance: () => figure(columns.relevance[column]),
    mutual_information: () => figure(columns.mutual_information[column]),
    conditional_relevance: () => figure(columns.conditional_relevance[column]),
    relevance_given: () => figure(columns.relevance_given[column]),
    p_value: () => figure(columns.p_value[column]),
  };
  const template = facts.sentences[columns.sentence[column]];
  return template.replace(/\{(\w+)\}/g, (whole, field) => (values[field] ? values[field]() : whole));
}
