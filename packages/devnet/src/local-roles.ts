import { sendOptions } from './child-options.ts'
import type { FaucetOptions } from './faucet/run.ts'
import type { Home } from './home.ts'
import type { KeeperOptions } from './keeper.ts'
import type { Keys } from './keys.ts'
import type { ReadyChains } from './network-files.ts'
import { type Environment, listeningPort, nextMessage, spawnNode } from './node-child.ts'
import { NATIVE, NATIVE_SOL } from './plan.ts'
import { programFile } from './programs.ts'
import type { Role } from './supervise.ts'

type LocalSetup = {
  home: Home
  keys: Keys
  env: Environment
  chains: ReadyChains
  onDown(role: string, reason: string): void
}

export function faucetRole({ home, keys, env, chains, onDown }: LocalSetup, port: number): Role {
  const { privateKey } = keys.faucet
  const evm = chains.evm.map(({ chainId, nodeUrl: rpcUrl, tokens }) => ({
    chainId,
    rpcUrl,
    privateKey,
    tokens: [NATIVE, ...tokens].map(({ symbol, address }) => ({ symbol, address })),
  }))
  const { chainId, nodeUrl: rpcUrl, tokens } = chains.solana
  const mints = tokens.map(({ symbol, address, program }) => ({ symbol, address, program }))
  const native = { symbol: NATIVE_SOL.symbol, address: NATIVE_SOL.address }
  const solana = { chainId, rpcUrl, seed: keys.solana.faucet.seed, tokens: [native, ...mints] }
  const options: FaucetOptions = { evm, solana }
  const args = ['faucet', '--port', String(port)]
  const command = { file: programFile('faucet'), args, env, logFile: home.logFile('faucet') }
  return {
    name: 'faucet',
    logFile: command.logFile,
    launch: () => sendOptions(spawnNode(command), options),
    waitUntilReady: async (child) => void (await nextMessage(child, listeningPort)),
    onDown: (reason) => onDown('faucet', reason),
    restart: true,
    stopGraceMs: 1_000,
  }
}

export function keeperRole({ home, keys, env, chains, onDown }: LocalSetup): Role {
  const kept = chains.evm.map(({ chainId, nodeUrl, feeds, feedPlan }) => ({
    chainId,
    rpcUrl: nodeUrl,
    feeds: feeds.map(({ address }) => address),
    everySeconds: feedPlan.everySeconds,
  }))
  const options: KeeperOptions = { chains: kept, privateKey: keys.keeper.privateKey }
  const command = {
    file: programFile('keeper'),
    args: ['keeper'],
    env,
    logFile: home.logFile('keeper'),
  }
  return {
    name: 'keeper',
    logFile: command.logFile,
    launch: () => sendOptions(spawnNode(command), options),
    waitUntilReady: async () => {},
    onDown: (reason) => onDown('keeper', reason),
    restart: true,
    stopGraceMs: 1_000,
  }
}
