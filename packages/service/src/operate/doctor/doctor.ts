import { type Findings, joinFindings } from '../../chains/findings.ts'
import { type Env, type Output, parseFlags, toTable } from '../../command.ts'
import type { Chains } from '../../compose/chains.ts'
import type { NetworkConfig } from '../../config.ts'
import { checkChains, checkEach, checkGas, checkTreasury, connectForChecks } from '../checks.ts'
import { fillInAllUrls, findNetworkFile, readUnfilled } from '../served.ts'
import { checkDatabase, checkRoles } from './database-check.ts'
import { checkFinality, checkNodeVersions, findNodeWarnings } from './node-checks.ts'
import { checkPrices } from './price-check.ts'

export const DOCTOR_HELP = `doctor [--config FILE] [--json]
      Checks everything, before a start and while it runs: every node by name, versions, clocks, contracts, calls of
      the treasury, pending attesters, caps, gas, prices, finality, the database with its roles, settings and keys.
      Sends nothing and prints no secret. Exit code 1: a problem was found; warnings alone are 0.`

type Level = 'problem' | 'warning' | 'ok'
type Finding = { area: string; level: Level; text: string }
type Report = Findings & { facts?: readonly string[] }

export async function doctor(args: string[], env: Env, output: Output): Promise<number> {
  const options = { config: { type: 'string' }, json: { type: 'boolean', default: false } } as const
  const { config: chosen, json } = parseFlags({ args, options }).values
  const file = chosen ?? findNetworkFile(env)
  const written = readUnfilled(file)
  const network = fillInAllUrls(written, env)
  const findings = await examine({ network, written }, { ...env, GEOSWAP_CONFIG: file })
  const problems = findings.filter(({ level }) => level === 'problem').length
  output.out(json ? JSON.stringify({ ok: problems === 0, findings }, null, 2) : describe(findings))
  output.hint(
    problems === 0 ? 'No problem found.' : `${problems} ${problems === 1 ? 'problem' : 'problems'}.`,
  )
  return problems === 0 ? 0 : 1
}

type Examined = { network: NetworkConfig; written: NetworkConfig }

async function examine({ network, written }: Examined, env: Env): Promise<Finding[]> {
  const [ours, attesters] = [
    connectForChecks(network, 'rpcUrls'),
    connectForChecks(network, 'attesterRpcUrls'),
  ]
  const [nodes, both, treasury, gas, finality, prices, database] = await Promise.all([
    checkNodeVersions(network.chains),
    checkBoth(ours, attesters),
    checkTreasury(network, ours),
    checkGas(network, ours),
    checkEach(ours, checkFinality),
    checkPrices(env, network, ours),
    checkDatabase(env),
  ])
  const named = [...findNodeWarnings(written.chains), ...nodes.warnings]
  const chains = { ...both, warnings: both.warnings.filter((text) => !named.includes(text)) }
  // Opening keys takes the processor for seconds, and other checks would run into their timeouts.
  const processes = await checkRoles(env)
  const areas = { chains, treasury, gas, finality, prices, database, processes }
  const node = { area: 'versions', level: 'ok', text: `Node.js ${process.versions.node}` } as const
  return [
    node,
    ...toFindings('nodes', { ...nodes, warnings: named }),
    ...Object.entries(areas).flatMap(([area, report]) => toFindings(area, report)),
  ]
}

async function checkBoth(ours: Chains, attesters: Chains): Promise<Findings> {
  const { problems, warnings } = joinFindings(await Promise.all([checkChains(ours), checkChains(attesters)]))
  return { problems: [...new Set(problems)], warnings: [...new Set(warnings)] }
}

function toFindings(area: string, { problems, warnings, facts = [] }: Report): Finding[] {
  const of = (level: Level, texts: readonly string[]) => texts.map((text) => ({ area, level, text }))
  const found = [...of('problem', problems), ...of('warning', warnings), ...of('ok', facts)]
  return found.length > 0 ? found : of('ok', ['as configured'])
}

function describe(findings: readonly Finding[]): string {
  return toTable(findings.map(({ level, area, text }) => [level, area, text]))
}
