import { type Env, UsageError } from '../command.ts'
import { readNetwork } from '../config/network-file.ts'
import { fillInUrls } from '../config/secrets.ts'
import type { NetworkConfig } from '../config.ts'

/** The network of a file with complete node URLs. Throws a usage error with all problems. */
export function readForCommand(file: string, env: Env): NetworkConfig {
  const problems: string[] = []
  const filled = fillInUrls(readUnfilled(file), ['rpcUrls'], env, problems)
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return filled
}

/** The network as written: URLs may lack their secrets. */
export function readUnfilled(file: string): NetworkConfig {
  const problems: string[] = []
  const network = readNetwork(file, problems)
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return network
}

export function fillInAllUrls(network: NetworkConfig, env: Env): NetworkConfig {
  const problems: string[] = []
  const filled = fillInUrls(network, ['rpcUrls', 'attesterRpcUrls'], env, problems)
  if (problems.length > 0) throw new UsageError([...new Set(problems)].join('\n'))
  return filled
}
