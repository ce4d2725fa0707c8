// Ask the search of a built site: node search.js SITE QUERY… prints a list of addresses for each query.
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [site, ...queries] = process.argv.slice(2);
const folder = path.join(site, "assets/javascripts/workers");
const worker = fs.readdirSync(folder).find((name) => /^search\..*\.js$/.test(name));
let handle;
let answer;
const self = {
  addEventListener: (_, listener) => (handle = listener),
  console, // it warns of ties
  postMessage: (message) => (answer = message.data),
};
self.self = self;
vm.runInNewContext(fs.readFileSync(path.join(folder, worker), "utf8"), self);

async function main() {
  const index = JSON.parse(fs.readFileSync(path.join(site, "search/search_index.json"), "utf8"));
  await handle({ data: { type: 0, data: { ...index, options: {} } } });
  const found = [];
  for (const query of queries) {
    await handle({ data: { type: 2, data: query } });
    found.push(answer.items.slice(0, 10).map((sections) => sections[0].location));
  }
  console.log(JSON.stringify(found));
}

main();
