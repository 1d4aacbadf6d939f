import { readFileSync } from 'node:fs'
import type { Plugin } from 'esbuild'

/**
 * The protocol with one rule disabled, as a real build. The rule is removed from the source while it is
 * bundled, so that production has no switch for it. If the text is not found, the build fails.
 */
export type Mutant = {
  id: string
  what: string
  edits: readonly Edit[]
  /** Deadlines under which the rule is needed. */
  deadlines?: Readonly<Record<string, number>>
  /** Removes database constraints that would refuse the mutant. */
  sql?: string
  /** The checker must find at least one of these invariants broken. */
  breaks: readonly string[]
}
type Edit = { file: string; find: string; put: string }

const SENDER = 'engine/sender.ts'
const DEADLINES = 'swap/deadlines.ts'

/** Sent as soon as it is signed, and recorded afterwards. */
const noWriteAhead = (isMeant: string): Edit[] => [
  {
    file: SENDER,
    find: '    if (!(await record(db, { attemptId, txHash: signed.txHash }))) throw new Outdated()',
    put: `    if (${isMeant}) await options.chain.broadcast(signed.raw).catch(() => undefined)
    if (!(await record(db, { attemptId, txHash: signed.txHash }))) throw new Outdated()`,
  },
  { file: 'store/db.ts', find: 'return transaction.getStore() === true', put: 'return false' },
]
const isSolana = '!options.chain.hasNonces'
/** The attester trusts the worker. */
const noObjection: Edit = {
  file: 'stages/attest/attest.ts',
  find: "  if (!seen.isUndelivered) return 'the vault shows a delivery'",
  put: '  if (seen) return undefined',
}

export const mutants: readonly Mutant[] = [
  {
    ...{ id: 'M3', what: 'to an EVM chain: a refund decided by a timer' },
    edits: [
      {
        file: 'chains/evm/chain.ts',
        find: 'isDeliveryOver: (op, at) => at.seconds > op.fillDeadline',
        put: 'isDeliveryOver: () => true',
      },
      noObjection,
    ],
    breaks: ['INV-2', 'INV-22'],
  },
  {
    ...{ id: 'M4', what: 'to Solana: a refund decided by a timer' },
    edits: [
      {
        file: 'chains/solana/chain.ts',
        find: 'isDeliveryOver: ({ fillDeadline }, at) => at.seconds > fillDeadline',
        put: 'isDeliveryOver: () => true',
      },
      noObjection,
    ],
    breaks: ['INV-2', 'INV-22'],
  },
  {
    ...{ id: 'M5', what: 'failed by a timer' },
    edits: [
      {
        file: 'stages/lock/confirm-lock.ts',
        find: '!events.has(swap.op.hash) && origin.isLockOver(swap, heads.hard)',
        put: '!events.has(swap.op.hash)',
      },
    ],
    breaks: ['INV-6', 'INV-22'],
  },
  {
    ...{ id: 'M6', what: 'no margin before the refund deadline' },
    edits: [{ file: DEADLINES, find: 'return Math.ceil(1.5 * longest)', put: 'return longest * 0' }],
    breaks: ['INV-21'],
  },
  {
    ...{ id: 'M7', what: 'a margin for the claim’s inclusion, not for its finality' },
    edits: [
      {
        file: DEADLINES,
        find: '    policy.claimInclusionSeconds +\n    finality.originSeconds',
        put: '    policy.claimInclusionSeconds',
      },
    ],
    breaks: ['INV-21'],
  },
  {
    ...{ id: 'M8', what: 'a margin shorter than an attempt’s life' },
    edits: [{ file: DEADLINES, find: '    policy.attemptLifeSeconds +\n', put: '' }],
    breaks: ['INV-21'],
  },
  {
    ...{ id: 'M9', what: 'delivered against a lock that is not final, without a cap' },
    edits: [
      {
        file: 'store/exposure.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source.
        find: '($2::bigint = 0 or ${cents} - (${fast}) + $2::bigint <= $4::bigint)',
        put: '($2::bigint >= 0 and $4::bigint > 0)',
      },
      {
        file: 'store/exposure.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source.
        find: 'or ${cents} + $2::bigint + $6::bigint <= $7::bigint)',
        put: 'or true)',
      },
      { file: 'swap/exposure.ts', find: 'if (isExposing(swap))', put: 'if (false)' },
    ],
    breaks: ['INV-13'],
  },
  {
    ...{ id: 'M11', what: 'to Solana: without a write-ahead log' },
    edits: noWriteAhead(`${isSolana} && signing.role === 'deliver'`),
    breaks: ['INV-9'],
  },
  {
    ...{ id: 'M12', what: 'to an EVM chain: the vault’s lane without a write-ahead log' },
    edits: noWriteAhead(`!(${isSolana}) && signing.role === 'deliver'`),
    breaks: ['INV-9'],
  },
  {
    ...{ id: 'M13', what: 'settled at inclusion, however late' },
    edits: [
      {
        file: 'stages/deliver/confirm-delivery.ts',
        find: '  return !mayBeRepeated && block > hard.number',
        put: '  return !mayBeRepeated && block > head.number',
      },
    ],
    // Less than soft settling requires: nothing may be reported before it is final.
    deadlines: { fillSeconds: 20 },
    breaks: ['INV-4'],
  },
  {
    ...{ id: 'M14', what: 'refunded at inclusion' },
    edits: [
      {
        file: 'engine/watch.ts',
        find: '  const events = await findFinalEvents(pool, query)',
        put: `  const seen = await findFinalEvents(pool, { ...query, hard: heads.head.number })
  const events = seen.filter(({ kind, block }) => kind === 'refunded' || block <= heads.hard.number)`,
      },
      {
        file: 'stages/settle/close.ts',
        find: 'origin.readLocks(ops, heads.hard, faults)',
        put: 'origin.readLocks(ops, heads.head, faults)',
      },
    ],
    breaks: ['INV-5'],
  },
  {
    ...{ id: 'M15', what: 'a stale process signs after the decision to refund' },
    edits: [
      {
        file: 'store/swap-moves.ts',
        find: '} on s.id = c.id and s.version = c.version',
        put: '} on s.id = c.id',
      },
      {
        file: 'store/swap-moves.ts',
        find: 'where s.id = c.id and s.version = c.version',
        put: 'where s.id = c.id',
      },
      // Time for another process to decide, as after a pause.
      {
        file: 'stages/deliver/deliver.ts',
        find: "  const ready = judged.filter(({ result }) => result?.kind === 'deliver').map(({ item }) => item)",
        put: "  const ready = swaps.filter(({ state }) => state === 'locked' || state === 'delivering')",
      },
    ],
    sql: 'drop trigger guard_delivery on attempt_swaps; drop trigger guard_swap on swaps',
    breaks: ['INV-2'],
  },
  {
    ...{ id: 'M16', what: 'the rest of a deposit stays at the address of its op' },
    edits: [
      {
        file: 'stages/settle/recover-deposits.ts',
        find: '  if (past.length === 0) return',
        put: '  if (past.length >= 0) return',
      },
    ],
    breaks: ['INV-11'],
  },
  {
    ...{ id: 'M17', what: 'on Solana: markers of deliveries keep their rent' },
    edits: [
      {
        file: 'stages/deliver/sweep.ts',
        find: '  if (markers.length > 0) {',
        put: '  if (markers.length < 0) {',
      },
    ],
    breaks: ['INV-17'],
  },
]

/** Removes a mutant's rule from the sources as they are read. */
export function without({ id, edits }: Mutant): Plugin {
  return {
    name: id,
    setup(build) {
      build.onLoad({ filter: /packages\/service\/src\/.*\.ts$/ }, ({ path }) => {
        const mine = edits.filter(({ file }) => path.endsWith(`/src/${file}`))
        if (mine.length === 0) return undefined
        const contents = mine.reduce((text, edit) => replaceOnce(id, text, edit), readFileSync(path, 'utf8'))
        return { contents, loader: 'ts' }
      })
    },
  }
}

function replaceOnce(id: string, text: string, { file, find, put }: Edit): string {
  if (text.split(find).length !== 2) throw new Error(`${id} does not find its rule in ${file}: ${find}`)
  return text.replace(find, () => put)
}
