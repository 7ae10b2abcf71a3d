/** The style sheet of all pages: system fonts, light and dark colours, table rows as cards on a narrow screen. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --soft: #f4f6f8; --line: #d5dbe1; --text: #1b2128; --quiet: #56606b;
  --link: #0a55b0; --good: #116a31; --bad: #b01420; --bad-soft: #fdf1f1; --warn: #8a4600; --hold: #6b3fa0; --warn-soft: #fff3df; --good-soft: #eaf6ed; --bar: #7ea6d8;
  --mono: ui-monospace, "Cascadia Mono", "SF Mono", Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #101418; --soft: #181d23; --line: #2e363f; --text: #e4e9ee; --quiet: #9ba6b1;
    --link: #7ab5ff; --good: #5ccf7c; --bad: #ff8f87; --bad-soft: #2a1719; --warn: #f0b25e; --hold: #c4a5f5; --warn-soft: #2c2113; --good-soft: #14251a; --bar: #3f6ea8;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0 auto; max-width: 96rem; padding: 0 1.5rem 3rem; background: var(--page); color: var(--text); font: 0.9375rem/1.5 system-ui, sans-serif; }
a, code, .said { unicode-bidi: isolate; }
a { color: var(--link); text-underline-offset: 0.15em; text-decoration-thickness: 1px; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 2px; }
main:focus { outline: none; }
[hidden] { display: none !important; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 0.5rem; padding: 0.25rem 0.75rem; background: var(--page); z-index: 1; }
.hidden-text { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
header.site { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 2rem; padding: 0.75rem 0; border-bottom: 1px solid var(--line); }
header.site ul, footer.site ul { display: flex; flex-wrap: wrap; gap: 0.125rem 1.25rem; margin: 0; padding: 0; list-style: none; font-size: 0.875rem; }
:is(header, footer).site a { text-decoration: none; }
:is(header, footer).site a:hover { text-decoration: underline; }
header.site [aria-current] { color: var(--text); font-weight: 600; }
header.site form { display: flex; gap: 0.5rem; margin-inline-start: auto; }
header.site input { width: 14rem; min-width: 0; }
footer.site { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 0 2rem; padding-top: 0.5rem; margin-top: 3rem; border-top: 1px solid var(--line); color: var(--quiet); font-size: 0.8125rem; }
h1 { margin: 1.75rem 0 0.25rem; font-size: 1.5rem; line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; overflow-wrap: anywhere; }
header.site :is(h1, p) { margin: 0; font-size: 1rem; font-weight: 650; line-height: 1.5; letter-spacing: 0; }
header.site p a { color: inherit; text-decoration: none; }
h2 { margin: 2.25rem 0 0.5rem; font-size: 1.0625rem; line-height: 1.3; font-weight: 650; }
h3 { margin: 0 0 0.5rem; font-size: 0.9375rem; }
p { margin: 0.5rem 0; max-width: 48rem; overflow-wrap: anywhere; }
.links ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; margin: 0.5rem 0; padding: 0; list-style: none; font-size: 0.875rem; }
.trail { margin: 1.25rem 0 -1.25rem; font-size: 0.875rem; color: var(--quiet); overflow-wrap: anywhere; }
.message { white-space: pre-line; overflow-wrap: anywhere; }
.quiet, .unknown, caption { color: var(--quiet); }
.sub { display: block; color: var(--quiet); font-size: 0.8125rem; font-weight: 400; }
p .sub { display: inline; }
code, pre, .code { font-family: var(--mono); font-size: 0.875em; overflow-wrap: anywhere; }
pre, .code { user-select: all; }
pre { margin: 0.5rem 0; padding: 0.75rem 1rem; background: var(--soft); border: 1px solid var(--line); border-radius: 4px; white-space: pre-wrap; line-height: 1.6; }
.summary { margin: 1.25rem 0 0.75rem; max-width: none; padding-inline-start: 0.75rem; border-inline-start: 4px solid var(--quiet); font-size: 1.125rem; font-weight: 600; line-height: 1.4; overflow-wrap: anywhere; }
.summary.good { border-color: var(--good); }
.summary.warning { border-color: var(--warn); }
.summary.bad { border-color: var(--bad); }
.figures { display: flex; flex-wrap: wrap; gap: 0.75rem 2.25rem; margin: 1rem 0 1.5rem; }
.figures dt { color: var(--quiet); font-size: 0.8125rem; }
.figures dd { margin: 0; font-size: 1.375rem; line-height: 1.3; font-weight: 600; font-variant-numeric: tabular-nums; }
.headline { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 0.25rem 2rem; margin: 0.25rem 0 0.75rem; }
.headline .figures { margin: 0; gap: 0.125rem 1.5rem; }
.headline .figures > div { display: flex; gap: 0.4rem; align-items: baseline; }
.headline .figures :is(dt, dd) { font-size: 0.9375rem; }
.facts { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: 0.3rem 1.5rem; margin: 0.5rem 0; max-width: 64rem; }
.facts dt { color: var(--quiet); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.facts ul { margin: 0; padding-inline-start: 1.25rem; }
#upstream-loads { margin-bottom: 1.5rem; }
.state { font-weight: 600; white-space: nowrap; }
.state::before { content: ""; display: inline-block; width: 0.55em; height: 0.55em; margin-inline-end: 0.45em; border: 2px solid; border-radius: 50%; background: currentColor; }
.state.no-data::before, .state.not-tried::before { background: none; }
.up { color: var(--good); }
.failing, .no-data, .no { color: var(--bad); }
.not-tried { color: var(--quiet); }
.no { font-weight: 600; }
.badge { display: inline-block; padding: 0 0.5em; border: 1px solid currentColor; border-radius: 1em; color: var(--quiet); font-size: 0.75rem; font-weight: 600; line-height: 1.4; overflow-wrap: anywhere; }
.badge:not(.unspecified) { white-space: nowrap; }
.badge.firing { color: var(--bad); background: var(--bad-soft); }
.badge.pending { color: var(--warn); background: var(--warn-soft); }
.badge.inactive { color: var(--good); background: var(--good-soft); border-color: transparent; }
.failure-note { padding: 0.5rem 0.875rem; border-inline-start: 3px solid var(--bad); background: var(--bad-soft); overflow-wrap: anywhere; }
.failure-note.warning { border-color: var(--warn); background: var(--warn-soft); }
.failure-note + .failure-note { margin-top: 0.75rem; }
.failure-note p { margin: 0.125rem 0; max-width: none; }
.failure-note .said { white-space: pre-line; }
.notice:not(:empty) { padding: 0.5rem 0.875rem; border: 1px solid var(--bad); border-radius: 4px; color: var(--bad); font-weight: 600; }
.controls { display: flex; flex-wrap: wrap; align-items: end; gap: 0.625rem 0.875rem; margin: 1rem 0; }
.controls p { margin: 0 0 0.3rem; color: var(--quiet); }
.controls label { display: grid; gap: 0.125rem; color: var(--quiet); font-size: 0.8125rem; }
.controls label.check { display: flex; align-items: center; gap: 0.4rem; padding-bottom: 0.3rem; font-size: 0.9375rem; color: inherit; }
input, select, button { font: inherit; color: inherit; }
.controls :is(input, select) { color: var(--text); font-size: 0.9375rem; }
input[type=search], select, :is(.controls, header.site) button { min-height: 2.125rem; padding: 0.2rem 0.6rem; background: var(--page); border: 1px solid var(--quiet); border-radius: 4px; }
input[type=search] { width: 16rem; max-width: 100%; }
select { max-width: 14rem; }
:is(.controls, header.site, #live) button { cursor: pointer; background: var(--soft); }
header.site :is(input[type=search], button) { min-height: 1.875rem; font-size: 0.875rem; }
.actions form { margin: 0; }
:is(#live, .actions form) button { min-height: 0; padding: 0.1rem 0.6rem; border: 1px solid var(--line); border-radius: 4px; font-size: 0.8125rem; }
#live button[aria-pressed=true] { border-color: var(--link); color: var(--link); font-weight: 600; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { padding: 0 0 0.5rem; text-align: start; font-size: 0.8125rem; }
th, td { padding: 0.4rem 0.75rem; border-bottom: 1px solid var(--line); text-align: start; vertical-align: baseline; }
tbody th, td { overflow-wrap: anywhere; }
#families td[data-label=Type] { white-space: nowrap; }
tr > :is(th, td):first-child { padding-inline-start: 0; }
tbody th { font-weight: 600; min-width: 10rem; }
tbody tr:hover > * { background: var(--soft); }
tbody tr:hover > :first-child { box-shadow: -0.5rem 0 var(--soft); }
thead th { color: var(--quiet); font-size: 0.8125rem; font-weight: 600; white-space: nowrap; border-bottom-color: var(--quiet); }
thead th a { color: inherit; text-decoration: none; }
thead th a:hover { color: var(--link); text-decoration: underline; }
[aria-sort] { color: var(--text); }
thead a::after { content: " \\2195"; content: " \\2195" / ""; color: var(--line); }
[aria-sort] a::after { color: inherit; }
[aria-sort=ascending] a::after { content: " \\2191"; content: " \\2191" / ""; }
[aria-sort=descending] a::after { content: " \\2193"; content: " \\2193" / ""; }
.number { text-align: end; white-space: nowrap; }
#resource-table :is(td, .sub) { font-size: 0.8125rem; line-height: 1.4; }
#resource-table :is(th, td):not(:first-child) { padding-inline: 0.5rem; }
#resource-table td[data-label=Created] { white-space: nowrap; }
#fields th:first-child { width: 1%; padding-inline-end: 1.5rem; white-space: nowrap; }
#families th a { font-weight: 500; text-decoration: none; }
#families th a:hover { text-decoration: underline; }
.bars { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1.5rem 3rem; }
.beside { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 2.5rem; }
.beside section:first-child > h2 { margin-top: 1rem; }
.actions { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 1rem; }
.columns { display: grid; margin-top: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 0 3rem; }
.columns h2 { margin-top: 0.5rem; }
.bars ol { margin: 0; padding: 0; list-style: none; }
.bars li { display: grid; grid-template-columns: minmax(0, 1fr) auto; align-items: baseline; gap: 0.2rem 0.75rem; padding: 0.3rem 0; }
.bars li > :first-child { overflow-wrap: anywhere; line-height: 1.35; }
.bars .amount { font-variant-numeric: tabular-nums; white-space: nowrap; }
.bar { display: block; grid-column: 1 / -1; width: 100%; height: 0.375rem; background: var(--soft); border-radius: 2px; }
.bar rect { fill: var(--bar); }
figure { margin: 0.75rem 0; }
.timeline svg, .spark svg { display: block; width: 100%; background: var(--soft); border-radius: 2px; }
.timeline svg { height: 1.75rem; margin-top: 0.4rem; }
.spark svg { height: 2.25rem; margin-top: 0.2rem; }
.spark path { fill: none; stroke: var(--link); stroke-width: 1.25px; }
.sparks { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); gap: 0 2.5rem; align-items: end; }
.spark .quiet { font-size: 0.8125rem; }
.axis { display: flex; justify-content: space-between; color: var(--quiet); font-size: 0.75rem; font-variant-numeric: tabular-nums; }
.legend, .outages { margin: 0.4rem 0; padding: 0; list-style: none; }
.legend { display: flex; flex-wrap: wrap; gap: 0 1rem; color: var(--quiet); font-size: 0.8125rem; }
.legend li::before { content: ""; display: inline-block; width: 0.7em; height: 0.7em; margin-inline-end: 0.4em; border-radius: 2px; background: var(--fill); }
.outcome { font-weight: 600; color: var(--fill); }
.timeline rect { fill: var(--fill); }
.succeeded { --fill: var(--good); }
.incomplete { --fill: var(--warn); }
.postponed { --fill: var(--hold); }
.state.incomplete, .sub.no { color: var(--warn); }
.waiting { --fill: var(--bar); }
.failed { --fill: var(--bad); }
.none { --fill: var(--line); }
.history :is(th, td) { font-size: 0.8125rem; }
.history th[scope=row] { min-width: 0; font-weight: 400; white-space: nowrap; }
summary { cursor: pointer; color: var(--link); }
.results { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 0 2rem; }
.results p { margin: 0; color: var(--quiet); }
.results p a { margin-inline-start: 0.5rem; }
.pager { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 1rem; margin: 0.75rem 0; }
.pager ul { display: flex; gap: 1rem; margin: 0; padding: 0; list-style: none; }
.pager .amount { font-variant-numeric: tabular-nums; }
@media (min-width: 63.01rem) {
  .controls label.narrow { display: none; }
}
@media (min-width: 84rem) {
  .beside { grid-template-columns: minmax(0, 1fr) 16rem; gap: 0 2.25rem; }
  .beside input[type=search] { width: 14.5rem; }
  .beside select { max-width: 8.5rem; }
  #resource-table td[data-label=Name] { min-width: 8rem; }
  #resource-table td[data-label=Type] { min-width: 6.5rem; }
  .side { font-size: 0.8125rem; }
  .side h2 { margin-top: 1rem; }
  .side .bars, .side .columns { grid-template-columns: minmax(0, 1fr); }
  .side .facts { grid-template-columns: 6.5rem minmax(0, 1fr); gap: 0.2rem 0.75rem; }
}
@media (max-width: 70rem) {
  header.site { column-gap: 1.25rem; }
  header.site input[type=search] { width: 8.5rem; }
  th, td { padding-inline: 0.4rem; }
}
@media (max-width: 63rem) {
  body { padding: 0 1rem 2rem; }
  .facts { grid-template-columns: 8rem minmax(0, 1fr); gap: 0.25rem 0.75rem; }
  header.site form { width: 100%; margin: 0.25rem 0; }
  header.site input[type=search] { flex: 1; width: 0; }
  .controls label, .controls input[type=search], .controls select { width: 100%; max-width: none; }
  .controls label.check { width: auto; }
  #narrow { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
  #narrow label[for=search] { grid-column: 1 / -1; }
  #narrow button { justify-self: start; }
  .cards thead { display: none; }
  .cards, .cards caption, .cards tbody, .cards tr { display: block; }
  .cards tr:has(> th) { padding: 0.6rem 0; }
  .cards tr { border-bottom: 1px solid var(--line); }
  .cards tbody th, .cards td { display: grid; grid-template-columns: 7.5rem minmax(0, 1fr); gap: 0 0.75rem; padding: 0.1rem 0; border: 0; text-align: start; white-space: normal; }
  .cards tbody th { display: block; padding-bottom: 0.3rem; font-size: 1rem; }
  .cards td::before { content: attr(data-label); color: var(--quiet); }
  #resource-table :is(th, td):not(:first-child) { padding-inline: 0; }
  .cards.history :is(th, td) { display: inline-block; margin-inline-end: 0.75rem; padding: 0; font-size: 0.8125rem; }
  .cards.history td::before { margin-inline-end: 0.3rem; }
  .cards.history td[data-label=Outcome] { display: inline; }
  .cards.history td[data-label=Outcome]::before { content: none; }
}
`;
