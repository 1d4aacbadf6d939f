import { readFileSync } from 'node:fs'
import { type Findings, joinFindings } from '../chains/findings.ts'
import { describeError, type Env, type Output, parseFlags, UsageError, withDatabaseAt } from '../command.ts'
import { connectForCommand } from '../compose/chains.ts'
import { verifyPyth } from '../compose/prices.ts'
import { neededConnections } from '../config/connections.ts'
import { describeProblem, parseNetwork } from '../config/network-file.ts'
import { optionalSecret, readSetting } from '../config/secrets.ts'
import type { Config, NetworkConfig } from '../config.ts'
import { assertConnections } from '../store/server.ts'
import { checkChains, checkGas, checkTreasury } from './checks.ts'
import { fillInAllUrls } from './served.ts'

export const CHECK_CONFIG_HELP = `check-config FILE [--online]
      Reports all problems of a configuration file by line. --online also checks chains, contracts, tokens and
      feeds on every node of API, worker and attester, the calls of the treasury, gas, and with DATABASE_URL the
      connections that the server allows. Exit code 1: problems were found.`

export async function checkConfig(args: string[], env: Env, output: Output): Promise<number> {
  const { file, online } = parse(args)
  const { network, problems } = parseNetwork(read(file))
  for (const problem of problems) output.out(describeProblem(file, problem))
  if (problems.length > 0) {
    output.hint(count(problems.length, 'problem'))
    return 1
  }
  output.out(`${file}: ${describe(network)}`)
  if (!online) return 0
  const pythApiKey = readSecrets(env, optionalSecret, 'GEOSWAP_PYTH_API_KEY')
  const databaseUrl = readSecrets(env, readSetting, 'DATABASE_URL')
  return checkOnline({ network: fillInAllUrls(network, env), pythApiKey, databaseUrl }, output)
}

type Checked = Pick<Config, 'network' | 'pythApiKey'> & { databaseUrl: string | undefined }

function readSecrets<T>(env: Env, read: (env: Env, name: string, problems: string[]) => T, name: string): T {
  const problems: string[] = []
  const value = read(env, name, problems)
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return value
}

/** Compares the connections that all processes may need with those that the server allows. */
async function checkDatabase({ network, databaseUrl }: Checked): Promise<Findings> {
  if (databaseUrl === undefined) return { problems: [], warnings: [] }
  const problems = await withDatabaseAt(databaseUrl, 'check-config', (pool) =>
    assertConnections(pool, neededConnections(network)),
  ).then(
    () => [],
    (error: unknown) => [`database: ${describeError(error)}`],
  )
  return { problems, warnings: [] }
}

/** Runs all checks of a start against the nodes of all processes. Warnings count as problems. */
async function checkOnline(config: Checked, output: Output): Promise<number> {
  const { network } = config
  const [ours, attesters] = [
    connectForCommand(network),
    connectForCommand(network, { nodes: 'attesterRpcUrls' }),
  ]
  const { problems, warnings } = joinFindings(
    await Promise.all([
      checkChains(ours),
      checkChains(attesters),
      checkTreasury(network, ours),
      checkGas(network, ours),
      verifyPyth(config),
      checkDatabase(config),
    ]),
  )
  const found = [...new Set([...problems, ...warnings])]
  for (const text of found) output.out(text)
  if (found.length > 0) output.hint(count(found.length, 'problem'))
  else
    output.out(
      `All nodes, contracts, tokens, feeds and keys of ${count(network.chains.length, 'chain')} are as configured.`,
    )
  return found.length > 0 ? 1 : 0
}

function parse(args: string[]): { file: string; online: boolean } {
  const { values, positionals } = parseFlags({
    args,
    allowPositionals: true,
    options: { online: { type: 'boolean' } },
  })
  const [file, ...more] = positionals
  if (!file || more.length > 0) throw new UsageError('File missing: check-config FILE [--online]')
  return { file, online: values.online ?? false }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : error}`)
  }
}

/** Summarizes the configuration, so that a valid but wrong file is noticed. */
function describe(config: NetworkConfig): string {
  const { network, chains, assets, relayers, authorizationRelayers, deliverers } = config
  const names = chains.map(
    ({ name, chainId, tokens }) => `${name} (${chainId}, ${count(tokens.length, 'token')})`,
  )
  const relaying = count(relayers.length + authorizationRelayers.length, 'relayer')
  const keys = `${relaying}, ${count(deliverers.length, 'deliverer')}, ${neededConnections(config)} connections`
  return `network ${network}: ${names.join(', ')}; ${count(assets.length, 'asset')}; ${keys}. No problem found.`
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`
}
