import { createFaucet } from './faucet.ts'
import { createFaults } from './faults.ts'
import { answerText, type Methods } from './json-rpc.ts'
import { advanceSlot, createLedger, type Ledger } from './ledger.ts'
import { accountMethods } from './methods/accounts.ts'
import { chainMethods } from './methods/chain.ts'
import { devMethods } from './methods/dev.ts'
import { historyMethods } from './methods/history.ts'
import { sendingMethods } from './methods/sending.ts'
import { tokenMethods } from './methods/tokens.ts'
import { type AnswerHttp, listen } from './server.ts'
import { createSubscriptions, type Notify } from './subscriptions.ts'
import { createTicker } from './ticker.ts'

export type SolanaChainOptions = {
  host?: string
  /** 0 chooses a free port whose next port is free too. */
  port: number
  slotMs?: number
  confirmedLag?: number
  finalizedLag?: number
  /** Answers HTTP requests in place of the node, for example as a provider in front of it. */
  createFront?: ((node: SolanaNode) => AnswerHttp) | undefined
}
export type SolanaNode = { ledger: Ledger; methods: Methods; slotMs: number }
export type SolanaChain = { rpcUrl: string; wsUrl: string; stop(): Promise<void> }

/** Starts an empty Solana chain in this process; its state is gone when it stops. */
export async function startSolanaChain(options: SolanaChainOptions): Promise<SolanaChain> {
  const { host = '127.0.0.1', port, slotMs = 400, confirmedLag = 1, finalizedLag = 32 } = options
  if (confirmedLag > finalizedLag) throw new RangeError('A slot is confirmed before it is finalized')
  const ledger = createLedger({ confirmedLag, finalizedLag })
  const faucet = await createFaucet(ledger)
  const faults = createFaults(ledger)
  const ticker = createTicker({ intervalMs: slotMs, onTick: () => advanceSlot(ledger) })
  const methods = {
    ...chainMethods(ledger),
    ...accountMethods(ledger),
    ...tokenMethods(ledger),
    ...historyMethods(ledger),
    ...sendingMethods({ ledger, faults, faucet }),
    ...devMethods({ ledger, faults, ticker }),
  }
  const { createFront = answerPlainly } = options
  const answer = createFront({ ledger, methods, slotMs })
  const connect = (notify: Notify) => createSubscriptions(ledger, notify)
  const server = await listen({ answer, connect }, { host, port })
  ticker.resume()
  return {
    rpcUrl: `http://${host}:${server.port}`,
    wsUrl: `ws://${host}:${server.port}`,
    async stop() {
      ticker.pause()
      await server.close()
    },
  }
}

function answerPlainly({ methods }: SolanaNode): AnswerHttp {
  return async ({ body }) => ({ status: 200, text: await answerText(methods, body) })
}
