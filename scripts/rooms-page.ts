import { graphOf } from './check-imports.ts'
import { isTest, type Source } from './sources.ts'

const INTRO = `# Rooms

Generated from the imports of the code. An arrow leads to what a room imports, a dotted one to what it imports only as
types. [import-rules.ts](../scripts/import-rules.ts) says what each room may import, the [tour](tour.md) walks
through them.

Left out are the arrows to \`swap\`, which nearly every room imports and which imports none, and those from
\`roots\` and \`operate\`, which connect all others.
`

/** Files that every room may use: errors, timers, fail-points. */
const isShared = (name: string) => /^service\/(async\/|errors|fail-point|isolate|stop-on-signal)/.test(name)
/** Parts of the local network, and the assembler. */
const isAside = (name: string) => /^(devnet|solana-rpc|sbpf)\//.test(name)
const WIRED = ['roots', 'operate']

type Edge = { from: string; to: string; typesOnly: boolean }
type Graph = ReturnType<typeof graphOf>

/** docs/rooms.md: the rooms of the service and the packages, as the imports connect them. */
export function roomsPage(sources: readonly Source[]): string {
  const graph = graphOf(sources.filter(({ path }) => /^packages\/[\w-]+\/src\//.test(path) && !isTest(path)))
  const rooms = edgesBetween(graph, roomOf).filter(({ from, to }) => to !== 'swap' && !WIRED.includes(from))
  const packages = edgesBetween(graph, packageOf)
  return `${INTRO}\n## The service\n\n${draw(rooms)}\n## Packages\n\n${draw(packages)}`
}

/** `service/chains/evm/heads.ts` is in `chains/evm`; the files beside the rooms are roots. */
function roomOf(name: string): string | undefined {
  if (!name.startsWith('service/') || isShared(name)) return undefined
  const [, room = '', inner = '', ...rest] = name.replace(/\.ts$/, '').split('/')
  if (room === 'config') return room
  if (inner === '' || room === 'compose') return 'roots'
  if (room === 'chains' && inner === 'families') return 'chains/families'
  return room === 'chains' && rest.length > 0 && inner !== 'nodes' ? `${room}/${inner}` : room
}

function packageOf(name: string): string | undefined {
  return isAside(name) ? undefined : name.split('/')[0]
}

function edgesBetween(graph: Graph, toNode: (name: string) => string | undefined): Edge[] {
  const edges = new Map<string, Edge>()
  for (const [file, imports] of graph)
    for (const { target, typesOnly } of imports) {
      const [from, to] = [toNode(file), graph.has(target) ? toNode(target) : undefined]
      if (from === undefined || to === undefined || from === to) continue
      const before = edges.get(`${from} ${to}`)
      edges.set(`${from} ${to}`, { from, to, typesOnly: typesOnly && (before?.typesOnly ?? true) })
    }
  return [...edges.values()]
}

function draw(edges: readonly Edge[]): string {
  const lines = edges.map(({ from, to, typesOnly }) => `  ${from} ${typesOnly ? '-.->' : '-->'} ${to}`)
  return `\`\`\`mermaid\nflowchart TD\n${lines.sort().join('\n')}\n\`\`\`\n`
}
