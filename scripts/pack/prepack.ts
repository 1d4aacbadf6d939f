import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { buildAgent } from '../../packages/agent/scripts/build.ts'
import { buildSdk } from '../../packages/sdk/scripts/build.ts'
import { readBom } from '../sbom.ts'
import { ROOT } from '../sources.ts'
import { buildProgram, licensesOf } from './program.ts'
import { toManifest, toReadme } from './published.ts'
import { putFiles, restoreFiles } from './swapped-files.ts'

const builds: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  sdk: async (folder) =>
    writeFileSync(join(folder, 'licenses.txt'), await licensesOf(await buildSdk(folder))),
  cli: (folder) => buildProgram('packages/cli/src/geoswap.ts', folder),
  agent: buildAgent,
  mcp: (folder) => buildProgram('packages/cli/src/geoswap-mcp.ts', folder),
}

const read = (path: string) => readFileSync(path, 'utf8')

/** Run by npm in the folder of a package, before it packs the folder. */
const folder = process.cwd()
const build = builds[basename(folder)]
if (!build) throw new Error(`${folder} is not published`)
restoreFiles(folder)
await build(join(folder, 'dist'))
const bom = readBom([basename(folder)])
writeFileSync(join(folder, 'dist/sbom.cdx.json'), `${JSON.stringify(bom, null, 2)}\n`)
const directory = `packages/${basename(folder)}`
const { repository } = JSON.parse(read(join(ROOT, 'package.json')))
const manifest = toManifest(JSON.parse(read('package.json')), repository, directory)
putFiles(folder, {
  'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
  'README.md': toReadme(read('README.md'), repository.url, directory),
  LICENSE: read(join(ROOT, 'LICENSE')),
})
