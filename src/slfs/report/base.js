// What all parts share: the facts, elements made of text, numbers in words.

const facts = JSON.parse(document.getElementById("facts").textContent);
const byId = (id) => document.getElementById(id);
const SVG = byId("drawing").namespaceURI;

/** Make an element. Strings among the children become text, functions among the attributes listeners. */
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
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const shortened = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
const plural = (count, word) => `${whole(count)} ${word}${count === 1 ? "" : "s"}`;
const sum = (values) => values.reduce((total, value) => total + value, 0);

/** The place of each selected column among the nodes of the tree. */
const nodeOfColumn = new Map(facts.nodes.map((node, place) => [node.column, place]));

/** Why a column was kept or dropped: a sentence of the report with the figures of this column. */
function explanation(column) {
  const columns = facts.columns;
  const words = {
    name: () => `“${columns.name[column]}”`,
    other: () => `“${columns.name[columns.other[column]]}”`,
    reason: () => facts.reasons[columns.reason[column]],
    relevance: () => figure(columns.relevance[column]),
    mutual_information: () => figure(columns.mutual_information[column]),
    conditional_relevance: () => figure(columns.conditional_relevance[column]),
  };
  const template = facts.sentences[columns.sentence[column]];
  return template.replace(/\{(\w+)\}/g, (whole, field) => (words[field] ? words[field]() : whole));
}
