import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Contract, compileProduct } from './compile.ts'

const folder = new URL('../../protocol/src/abi/', import.meta.url)
const generated = [
  'GeoAccount',
  'GeoEscrow',
  'GeoVault',
  'UniswapV3Adapter',
  'Reader',
  'TestToken',
  'TestFeed',
] as const

const createdDoc = '/** Creation code, without constructor arguments. */'
const runtimeDoc =
  '/** What a chain holds, with 32 zero bytes at each of `immutables`, where the constructor wrote its values. */'

/** `GeoEscrow` becomes `geo-escrow.gen.ts`, which exports `geoEscrowAbi`, `geoEscrowBytecode`, `geoEscrowRuntime`. */
function toSource(name: string, contract: Contract): string {
  const variable = name.charAt(0).toLowerCase() + name.slice(1)
  const items = contract.abi.map((item) => `  ${JSON.stringify(item)},\n`).join('')
  const immutables = contract.immutables.join(', ')
  return [
    '// Generated from packages/contracts/src by `npm run generate`. Do not edit.\n',
    `export const ${variable}Abi = [\n${items}] as const\n`,
    `${createdDoc}\nexport const ${variable}Bytecode =\n  '${contract.bytecode}' as const\n`,
    `${runtimeDoc}\nexport const ${variable}Runtime = {`,
    `  bytecode:\n    '${contract.runtimeBytecode}',\n  immutables: [${immutables}],\n} as const\n`,
  ].join('\n')
}

function toFileName(name: string): string {
  return `${name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase()}.gen.ts`
}

const contracts = compileProduct()
const isCheck = process.argv.includes('--check')
const drifted: string[] = []
mkdirSync(folder, { recursive: true })
for (const name of generated) {
  const contract = contracts[name]
  if (!contract) throw new Error(`${name} was not compiled`)
  const file = fileURLToPath(new URL(toFileName(name), folder))
  const source = toSource(name, contract)
  if (existsSync(file) && readFileSync(file, 'utf8') === source) continue
  drifted.push(toFileName(name))
  if (!isCheck) writeFileSync(file, source)
}
if (isCheck && drifted.length > 0) {
  console.error(`out of date, run \`npm run generate\`: ${drifted.join(', ')}`)
  process.exitCode = 1
}
