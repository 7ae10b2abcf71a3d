/** The status page's whole style sheet: system fonts and colours for light and dark, table rows as cards on a narrow screen. */
export const STATUS_STYLE = `
:root { color-scheme: light dark; --line: #8886; --soft: #8882; --good: #1a7f37; --bad: #c0232c; --idle: #6e7781; }
@media (prefers-color-scheme: dark) { :root { --good: #4ac26b; --bad: #ff7b72; --idle: #9198a1; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 80rem; padding: 1.5rem 1rem 3rem; font: 16px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.5rem; }
header p { margin: 0.25rem 0 1rem; opacity: 0.8; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin: 0 0 1.5rem; padding: 0; list-style: none; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.5rem 0.75rem; border-bottom: 1px solid var(--line); text-align: start; vertical-align: top; overflow-wrap: anywhere; }
thead th { background: var(--soft); overflow-wrap: normal; }
th.number, td.number { text-align: end; font-variant-numeric: tabular-nums; }
.state { font-weight: 600; white-space: nowrap; }
.state::before { content: "\\25CF"; margin-inline-end: 0.4em; }
.up { color: var(--good); }
.failing { color: var(--bad); }
.not-tried { color: var(--idle); }
.why { font-size: 0.875rem; white-space: pre-line; }
@media (max-width: 45rem) {
  thead { display: none; }
  tr { display: block; margin-bottom: 1rem; border: 1px solid var(--line); border-radius: 0.5rem; }
  tbody th, td, td.number { display: grid; grid-template-columns: 9rem 1fr; border: 0; text-align: start; }
  tbody th { background: var(--soft); }
  tbody th::before, td::before { content: attr(data-label); font-weight: 400; opacity: 0.7; }
  .why { grid-column: 2; }
}
`;
