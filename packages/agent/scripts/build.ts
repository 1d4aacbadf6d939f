import { execFile } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { buildProgram } from '../../../scripts/pack/program.ts'

const PACKAGE = fileURLToPath(new URL('..', import.meta.url))
const ENTRIES = ['index', 'agentkit', 'ai', 'eliza', 'langchain', 'mcp', 'openai']

/** Writes the modules that applications import, with everything that they need, and their types. */
export async function buildAgent(folder: string): Promise<void> {
  await buildProgram(
    ENTRIES.map((name) => `packages/agent/src/${name}.ts`),
    folder,
  )
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json')
  const config = join(PACKAGE, 'tsconfig.build.json')
  const tsc = [join(dirname(compiler), 'bin/tsc'), '-p', config, '--outDir', folder]
  await promisify(execFile)(process.execPath, tsc)
  const declarations = (await readdir(folder)).filter((file) => file.endsWith('.d.ts'))
  for (const file of declarations) await publish(join(folder, file))
}

/** Types of the repository's other packages are not published, and no type that is needs them. */
async function publish(path: string): Promise<void> {
  const text = await readFile(path, 'utf8')
  if (text.includes('@geoswap/')) await rm(path)
  else await writeFile(path, text.replaceAll(/(['"]\.[^'"]+)\.ts(['"])/g, '$1.js$2'))
}
