import { withBlocks } from './block-params.ts'
import { type Rule, toHex } from './call.ts'
import type { EvmShape, TagLag } from './evm-shape.ts'
import type { Heads } from './heads.ts'
import type { Settings } from './settings.ts'

type Tag = 'safe' | 'finalized'
type Mark = { boundary: number; block: number }

export type Finality = {
  blockOf(tag: Tag): Promise<number>
  /** Called when blocks were reverted: a tag stays unless its block is gone. */
  forget(): Promise<void>
}

/** Blocks up to this time are covered by the tag. */
function boundaryOf(headTime: number, lag: TagLag, factor: number): number {
  return Math.floor(headTime / lag.stepSeconds) * lag.stepSeconds - Math.round(lag.lagSeconds * factor)
}

/**
 * The blocks of `safe` and `finalized`. They move in steps, never back, and only while finality is not
 * halted. go-ethereum and its forks answer these tags from the consensus layer:
 * https://github.com/ethereum/consensus-specs phase0 (epochs, checkpoints),
 * https://specs.optimism.io/protocol/derivation.html (safe and finalized L2 head), https://docs.arbitrum.io
 * (finality of a batch).
 */
export function createFinality(shape: EvmShape, settings: Settings, heads: Heads): Finality {
  const marks = new Map<Tag, Mark>()

  async function blockOf(tag: Tag): Promise<number> {
    const known = marks.get(tag)
    if (known && settings.finalityHalted) return known.block
    const { timestamp } = await heads.head()
    const boundary = boundaryOf(timestamp, shape[tag], settings.finalityFactor)
    if (known && boundary <= known.boundary) return known.block
    const block = await heads.lastBlockAt(boundary)
    marks.set(tag, { boundary, block })
    return block
  }

  async function forget(): Promise<void> {
    const { number } = await heads.head()
    for (const [tag, { block }] of marks) if (block > number) marks.delete(tag)
  }

  return { blockOf, forget }
}

/** Replaces the tags with numbers, because the underlying node treats both as its head. */
export function resolveTags(finality: Finality): Rule {
  return async (call, next) =>
    next(
      await withBlocks(call, async (block) =>
        block === 'safe' || block === 'finalized' ? toHex(await finality.blockOf(block)) : block,
      ),
    )
}
