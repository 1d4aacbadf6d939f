import type { FamilyName } from '../packages/service/src/chains/families.ts'
import { IDLE_CALLS, IDLE_PROCESSES, idleCallsOf } from '../packages/service/src/operate/idle-calls.ts'

const INTRO = `# Calls to nodes

Generated from \`packages/service/src/operate/idle-calls.ts\`. So many calls a second does an operator pay for while
nothing happens: measured by \`npm run bench -- idle\` with ${IDLE_PROCESSES}. \`service books\` adds them up for your
chains. A swap adds [some](../../test/bench/README.md#measured-on-the-mainnet-shape).

| chain | process | node 1 | node 2 | a second | in 30 days |
|---|---|---:|---:|---:|---:|
`

/** docs/operations/calls.md: the figures that `service books` prints, and the bench compares with. */
export function callsPage(): string {
  const families = Object.entries(IDLE_CALLS) as [FamilyName, (typeof IDLE_CALLS)[FamilyName]][]
  const rows = families.flatMap(([family, chains]) =>
    Object.entries(chains).flatMap(([name, calls]) => {
      const { perSecond, perMonth } = idleCallsOf({ name, family })
      const ofProcesses = Object.entries(calls).map(([process, ofNodes]) => {
        return `| ${name} | ${process} | ${ofNodes.map((each) => each.toFixed(2)).join(' | ')} | | |`
      })
      return [
        ...ofProcesses,
        `| ${name} | all | | | ${perSecond.toFixed(2)} | ${perMonth.toLocaleString('en')} |`,
      ]
    }),
  )
  return `${INTRO}${rows.join('\n')}\n`
}
