import { listeningPort, nextMessage, spawnNode } from './node-child.ts'
import { type Supervised, supervise } from './supervise.ts'

type ProcessOptions = {
  name: string
  /** By default any free one. */
  port?: number
  logFile?: string
  env?: Readonly<Record<string, string>>
  /** A chain lives in memory: when its process ends, so does all that was on it. */
  onDown?(reason: string): void
}
/** An EVM chain takes its port when that is free, and any other when it is not. */
export type ChainOptions = ProcessOptions & { chainId: number; blockMs?: number }
/** A Solana chain refuses a port that is taken. */
export type SolanaProcessOptions = ProcessOptions & { slotMs?: number }
export type RunningChain = Supervised & { rpcUrl: string }
export type RunningSolanaChain = RunningChain & { wsUrl: string }

/** Starts one EVM chain in a process of its own. It is not restarted: its state would be gone. */
export async function startChain(options: ChainOptions): Promise<RunningChain> {
  const { name, chainId, port = 0, blockMs = 1_000 } = options
  const pace = ['--port', String(port), '--block-ms', String(blockMs)]
  const args = [name, '--chain-id', String(chainId), ...pace]
  return startProcess(options, { file: 'packages/devnet/src/evm-chain.ts', args })
}

/** Starts one Solana chain in a process of its own, likewise. */
export async function startSolanaProcess(options: SolanaProcessOptions): Promise<RunningSolanaChain> {
  const { port = 0, slotMs = 400 } = options
  const args = ['--port', String(port), '--slot-ms', String(slotMs)]
  const chain = await startProcess(options, { file: 'packages/devnet/src/solana/main.ts', args })
  return { ...chain, wsUrl: chain.rpcUrl.replace('http', 'ws') }
}

async function startProcess(
  options: ProcessOptions,
  command: { file: string; args: string[] },
): Promise<RunningChain> {
  let port = 0
  const { name, env = {}, logFile = '/dev/null' } = options
  const chain = await supervise({
    name,
    logFile,
    launch: () => spawnNode({ ...command, env, logFile }),
    async waitUntilReady(child) {
      port = await nextMessage(child, listeningPort)
    },
    onDown: (reason) => options.onDown?.(reason),
    restart: false,
    stopGraceMs: 1_000,
  })
  return { ...chain, rpcUrl: `http://127.0.0.1:${port}` }
}
