import { isTest, readSources } from './sources.ts'

const INTRO = `# Metrics

Generated from \`packages/service/src/observe\`. Over several processes take \`max by (…)\`. Sum only counters,
\`geoswap_lanes_held\`, \`geoswap_held_status_reads\` and \`geoswap_node_budget_used_ratio\`. A value that cannot be
read now is absent: figures from the database while it is away, balances and finality of a chain that is not followed.
\`chain\` is the chain's name.
`

const METRIC = /name: '(geoswap_\w+)',\s+help: '([^'\n]+)'(?:,\s+labelNames: \[([^\]]*)\])?/g

/** docs/operations/metrics.md: every metric with its labels and its help. */
export function metricsPage(): string {
  const sources = readSources().filter(
    ({ path }) => path.startsWith('packages/service/src/') && !isTest(path),
  )
  const rows = sources.flatMap(({ text }) =>
    [...text.matchAll(METRIC)].map(([, name = '', help = '', labels = '']) => {
      const braces = labels === '' ? '' : `{${labels.replaceAll(/[' ]/g, '')}}`
      return `| \`${name}${braces}\` | ${help} |`
    }),
  )
  return `${INTRO}\n| metric | value |\n|---|---|\n${rows.sort().join('\n')}\n`
}
