"""How the page looks: by light, by dark, on paper, on a desk and on a telephone."""

LIGHT = """
  --paper: #ffffff; --card: #f6f7f9; --ink: #1b2430; --faint: #5b6673; --rule: #d9dee4;
  --after: #1d6fb8; --same: #74b0e0; --before: #c4631d; --aside: #8a94a0; --mark: #a3123a;
  --held: #1b7f4d; --partly: #a86a00; --failed: #b3261e;
"""
DARK = """
  --paper: #12161b; --card: #1b2129; --ink: #e7ebf0; --faint: #a0abb8; --rule: #364049;
  --after: #5aa9ee; --same: #2f6ea6; --before: #ee9a5b; --aside: #77828e; --mark: #ff8aa5;
  --held: #46c286; --partly: #e5ad45; --failed: #ff7b72;
"""
DRAWING = """
svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
svg .axis-name { fill: var(--faint); }
svg .strong { font-weight: 600; }
svg .halo { paint-order: stroke; stroke: var(--card); stroke-width: 4px; }
svg .axis { stroke: var(--faint); }
svg .grid { stroke: var(--rule); }
svg .mark { stroke: var(--mark); stroke-width: 1.5; stroke-dasharray: 5 4; }
svg .whisker { stroke: var(--ink); stroke-width: 1.5; }
svg .after { fill: var(--after); } svg .before { fill: var(--before); }
svg .same { fill: var(--same); } svg .aside { fill: var(--aside); }
svg .line { fill: none; stroke-width: 2.5; }
svg .line.after { stroke: var(--after); }
svg .line.before { stroke: var(--before); stroke-dasharray: 8 3; }
"""
LAYOUT = """
* { box-sizing: border-box; }
body { background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif;
  max-width: 70rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; margin: 0 0 1rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1rem; margin: 0 0 .5rem; }
p { margin: .5rem 0; max-width: 46rem; }
.aside, figcaption { color: var(--faint); font-size: .875rem; }
.verdict { border-left: .4rem solid var(--kind); background: var(--card); padding: 1rem 1.25rem; }
.verdict h2 { color: var(--kind); font-size: 1.5rem; margin: 0; }
.verdict svg { max-width: 44rem; margin-top: .5rem; }
.keys { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; list-style: none; margin: .75rem 0 0;
  padding: 0; }
.keys svg { display: inline-block; width: .8em; margin: 0 .5em 0 0; }
.held { --kind: var(--held); } .partly { --kind: var(--partly); } .failed { --kind: var(--failed); }
.tiles, .tables { display: grid; gap: 1rem; margin: 1rem 0; }
.tiles { grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); }
.figures { columns: 26rem; column-gap: 1rem; }
.tables { grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1rem 2rem; }
.tiles div { display: flex; flex-direction: column-reverse; justify-content: flex-end;
  background: var(--card); padding: .75rem 1rem; }
dt { color: var(--faint); font-size: .875rem; line-height: 1.3; }
dd { font-size: 1.75rem; font-weight: 600; margin: 0; font-variant-numeric: tabular-nums; }
figure { background: var(--card); margin: 0 0 1rem; padding: 1rem; break-inside: avoid; }
svg { display: block; width: 100%; height: auto; }
figure svg { max-width: 34rem; margin: 0 auto .5rem; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
th, td { border-bottom: 1px solid var(--rule); padding: .25rem .5rem .25rem 0; text-align: right;
  font-weight: 400; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
th:first-child { text-align: left; }
thead th { color: var(--faint); font-size: .875rem; }
.narrow { max-width: 40rem; }
.narrow td { white-space: nowrap; padding-left: .75rem; }
"""
ON_TELEPHONE = """
@media (max-width: 30rem) {
  body { padding: 1rem .75rem 2rem; }
  figure { padding: .75rem .5rem; }
  svg text { font-size: 14.5px; }
}
"""
ON_PAPER = """
  :root { font-size: 10pt; } body { max-width: none; padding: 0; }
  .figures { columns: 2; } .tables { grid-template-columns: 1fr 1fr; }
  .tiles { grid-template-columns: repeat(4, 1fr); }
  figure, section, tr, .tiles div { break-inside: avoid; } h2 { break-after: avoid; }
  figure, .tiles div, .verdict { background: none; border: 1px solid var(--rule); }
  .verdict { border-left: .4rem solid var(--kind); }
  svg .halo { stroke: var(--paper); }
"""
STYLE = f"""
:root {{ color-scheme: light dark; {LIGHT} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}
{LAYOUT}
{DRAWING}
{ON_TELEPHONE}
@media print {{ :root {{ color-scheme: light; }} {ON_PAPER} }}
"""
