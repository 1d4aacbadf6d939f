import { listeningPort, nextMessage, spawnNode } from './node-child.ts'
import { type Supervised, supervise } from './supervise.ts'

export type ChainOptions = {
  name: string
  chainId: number
  /** Taken when it is free; by default any free one. */
  port?: number
  blockMs?: number
  logFile?: string
  env?: Readonly<Record<string, string>>
  /** A chain lives in memory: when its process ends, so does all that was on it. */
  onDown?(reason: string): void
}
export type RunningChain = Supervised & { rpcUrl: string }

/** Starts one EVM chain in a process of its own. It is not restarted: its state would be gone. */
export async function startChain(options: ChainOptions): Promise<RunningChain> {
  let port = options.port ?? 0
  const logFile = options.logFile ?? '/dev/null'
  const chain = await supervise({
    name: options.name,
    logFile,
    launch: () => spawnNode({ ...commandOf(options), env: options.env ?? {}, logFile }),
    async waitUntilReady(child) {
      port = await nextMessage(child, listeningPort)
    },
    onDown: (reason) => options.onDown?.(reason),
    restart: false,
    stopGraceMs: 1_000,
  })
  return { ...chain, rpcUrl: `http://127.0.0.1:${port}` }
}

function commandOf(options: ChainOptions) {
  const port = ['--port', String(options.port ?? 0)]
  const pace = ['--block-ms', String(options.blockMs ?? 1_000)]
  const args = [options.name, '--chain-id', String(options.chainId), ...port, ...pace]
  return { file: 'packages/devnet/src/evm-chain.ts', args }
}
