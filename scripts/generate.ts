import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createOpenApi, serverJson } from '@geoswap/wire'
import { NetworkSchema } from '../packages/service/src/config/network-schema.ts'
import {
  publicStatus,
  publicSubstatus,
  type SwapState,
  transitions,
} from '../packages/service/src/swap/lifecycle.ts'
import { callsPage } from './calls-page.ts'
import { configPage } from './config-page.ts'
import { errorsPage } from './errors-page.ts'
import { metricsPage } from './metrics-page.ts'
import { pricesPage } from './prices-page.ts'
import { pythonClient } from './python-client.ts'
import { roomsPage } from './rooms-page.ts'
import { sdkPage } from './sdk-page.ts'
import { ROOT, readSources, report } from './sources.ts'
import { statesPage } from './states-page.ts'
import { tablesPage } from './tables-page.ts'
import { wakesPage } from './wakes-page.ts'

/** Packages with generators of their own: ABIs and bytecode, the program on Solana. */
const GENERATORS = ['packages/contracts/scripts/generate.ts', 'packages/solana-escrow/scripts/build.ts']

function createPages(): Record<string, string> {
  const describe = (state: string) => {
    const known = state as SwapState
    return { status: publicStatus(known), substatus: publicSubstatus(known) }
  }
  return {
    'docs/openapi.json': `${JSON.stringify(createOpenApi({ serverUrl: '/' }), null, 2)}\n`,
    'docs/config.schema.json': configSchema(),
    'docs/errors.md': errorsPage(),
    'docs/operations/calls.md': callsPage(),
    'docs/operations/configuration.md': configPage(),
    'docs/operations/metrics.md': metricsPage(),
    'docs/prices.md': pricesPage(),
    'docs/rooms.md': roomsPage(readSources()),
    'docs/sdk.md': sdkPage(),
    'docs/states.md': statesPage(transitions, describe),
    'docs/tables.md': tablesPage(),
    'docs/wakes.md': wakesPage(),
    'examples/python/geoswap_client.py': pythonClient(),
    'packages/service/src/http/guides.gen.ts': guidesModule(),
    'server.json': `${JSON.stringify(serverJson(), null, 2)}\n`,
  }
}

/**
 * Texts for agents, in the bundle of the service, which serves them: the skills, and llms.txt with the documents that
 * its part for callers names. The other parts of llms.txt lead to files of the repository alone.
 */
function guidesModule(): string {
  const index = forCallers(readFileSync(join(ROOT, 'llms.txt'), 'utf8'))
  const skills = readdirSync(join(ROOT, 'skills'), { recursive: true, encoding: 'utf8' })
  const linked = [...index.matchAll(/\]\(([^)]+\.md)\)/g)].map(([, path]) => path ?? '')
  const files = new Set([...linked, ...skills.map((file) => `skills/${file}`)])
  const texts: [string, string][] = [...files]
    .filter((file) => file.endsWith('.md'))
    .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')])
  const entries = [['llms.txt', index] as const, ...texts].sort().map(([file, text]) => {
    return `  ${JSON.stringify(`/${file}`)}: ${JSON.stringify(text)},\n`
  })
  return `// Generated from llms.txt, the documents it names and skills by npm run generate.
export const guides: Readonly<Record<string, string>> = {\n${entries.join('')}}\n`
}

/** The service serves its OpenAPI document at another path than the repository. */
function forCallers(index: string): string {
  const callers = index.slice(0, index.indexOf('\n## Understand it'))
  return callers
    .replace('(docs/openapi.json)', '(openapi.json)')
    .replace('; a running service has it at `/openapi.json`', '')
}

/** For editors, which complete and check a configuration that names it in `$schema`. */
function configSchema(): string {
  const $schema = 'https://json-schema.org/draft/2020-12/schema'
  return `${JSON.stringify({ $schema, title: 'geoswap configuration', ...NetworkSchema }, null, 2)}\n`
}

function findDrift(pages: Record<string, string>): string[] {
  return Object.entries(pages)
    .filter(
      ([path, text]) => !existsSync(join(ROOT, path)) || readFileSync(join(ROOT, path), 'utf8') !== text,
    )
    .map(([path]) => `${path} is out of date: run npm run generate`)
}

function writePages(pages: Record<string, string>): void {
  for (const [path, text] of Object.entries(pages)) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true })
    writeFileSync(join(ROOT, path), text)
  }
}

function runGenerator(script: string, args: string[]): string[] {
  const command = ['--import', 'tsx', join(ROOT, script), ...args]
  const { status } = spawnSync(process.execPath, command, { cwd: ROOT, stdio: 'inherit' })
  return status === 0 ? [] : [`${script} ${args.join(' ')} failed`]
}

const check = process.argv.includes('--check')
const pages = createPages()
if (!check) writePages(pages)
report('generate', [
  ...(check ? findDrift(pages) : []),
  ...GENERATORS.flatMap((script) => runGenerator(script, check ? ['--check'] : [])),
])
