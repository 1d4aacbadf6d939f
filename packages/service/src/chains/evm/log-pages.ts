import { type Address, BaseError, type Log, type PublicClient, RpcRequestError } from 'viem'

export type BlockRange = { from: bigint; to: bigint }
type LogPage<L> = { logs: L[]; to: bigint }
export type LogPages = {
  /** The logs from `from` to `to`, or to the block at which the node's limit ends the page. */
  readPage(address: readonly Address[], range: BlockRange): Promise<LogPage<Log<bigint, number, false>>>
}

// Providers allow between 500 and 10,000 blocks.
const FIRST_RANGE = 2_000n
const MAX_RANGE = 10_000n

const grown = (size: bigint) => (size + size / 4n + 1n < MAX_RANGE ? size + size / 4n + 1n : MAX_RANGE)

/** Reads logs in pages. Halves a range that the node refuses, and grows it by a quarter and a block once it accepts. */
export function createLogPages(client: Pick<PublicClient, 'getLogs'>): LogPages {
  let size = FIRST_RANGE

  async function readPage(address: readonly Address[], { from, to }: BlockRange) {
    for (;;) {
      const last = from + size - 1n < to ? from + size - 1n : to
      try {
        const logs = await client.getLogs({ address: [...address], fromBlock: from, toBlock: last })
        if (last < to) size = grown(size)
        return { logs, to: last }
      } catch (error) {
        if (last === from || !isTooMuch(error)) throw error
        size = (last - from + 1n) / 2n
      }
    }
  }

  return { readPage }
}

// Geth, Erigon, Alchemy, Infura, QuickNode and public nodes use these codes or their own, with different texts.
const LIMIT_CODES = [-32_005, -32_602, -32_614, -32_701]
const LIMIT_TEXT = /range|limit|too (many|large|wide)|more than|exceed|response size|timed? ?out/i

/** Whether the node refused the range or the number of results. */
function isTooMuch(error: unknown): boolean {
  const answer = error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError)
  if (!(answer instanceof RpcRequestError)) return false
  return LIMIT_CODES.includes(answer.code) || LIMIT_TEXT.test(answer.details)
}

/** All pages of a range. */
export async function readAllLogs(pages: LogPages, address: readonly Address[], { from, to }: BlockRange) {
  const logs: Log<bigint, number, false>[] = []
  for (let next = from; next <= to; ) {
    const page = await pages.readPage(address, { from: next, to })
    logs.push(...page.logs)
    next = page.to + 1n
  }
  return logs
}
