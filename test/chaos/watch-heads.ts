import type { Network } from '@geoswap/devnet'
import { delay } from '../bench/clock.ts'
import type { Ledger } from './ledger.ts'

const POLL_MS = 120

type Block = { number: string; hash: string; timestamp: string }

/** Records which blocks existed when, also those reverted later, and the chain's final block. */
export function watchHeads({ local }: Network, ledger: Ledger): { stop(): void } {
  let stopped = false
  const follow = async (chain: string, url: string, tags: readonly string[]) => {
    let last = ''
    while (!stopped) {
      const [head, final] = await readBlocks(url, tags).catch(() => [])
      if (head && head.hash !== last) {
        last = head.hash
        ledger.head({
          chain,
          number: Number(head.number),
          hash: head.hash,
          seconds: Number(head.timestamp),
          ...(final && { final: Number(final.number) }),
        })
      }
      await delay(POLL_MS)
    }
  }
  for (const { name, rpcUrl, family, shape } of local.chains) {
    if (family !== 'evm') continue
    // The local chains have no tag for finality: a depth defines it there.
    void follow(name, shape?.nodeUrl ?? rpcUrl, shape ? ['latest', 'finalized'] : ['latest'])
  }
  return {
    stop() {
      stopped = true
    },
  }
}

async function readBlocks(url: string, tags: readonly string[]): Promise<Block[]> {
  const calls = tags.map((tag, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'eth_getBlockByNumber',
    params: [tag, false],
  }))
  const headers = { 'content-type': 'application/json' }
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(calls) })
  const answers = (await reply.json()) as { id: number; result: Block }[]
  return answers.sort((a, b) => a.id - b.id).map(({ result }) => result)
}
