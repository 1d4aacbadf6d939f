import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { keccak256 } from 'viem'
import { type Contract, compileProduct } from './compile.ts'

const folder = new URL('../../protocol/src/abi/', import.meta.url)
const generated = [
  'GeoAccount',
  'GeoEscrow',
  'GeoVault',
  'UniswapV3Adapter',
  'Reader',
  'TestToken',
  'TestDollar',
  'TestFeed',
] as const

const createdDoc = '/** Creation code, without constructor arguments. */'
const runtimeDoc =
  '/** Runtime code, with 32 zero bytes at each of `immutables`, where the constructor writes its values. */'

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

/** For clients that compare deployed code and have no room for the code itself. */
function toPublishedCode(): string {
  const rows = Object.entries({ account: 'GeoAccount', escrow: 'GeoEscrow' }).map(([role, name]) => {
    const { runtimeBytecode, immutables } = getContract(name)
    const hash = keccak256(runtimeBytecode)
    return `  ${role}: {\n    hash: '${hash}',\n    immutables: [${immutables.join(', ')}],\n  },\n`
  })
  return [
    '// Generated from packages/contracts/src by `npm run generate`. Do not edit.\n',
    '/** The hash of the runtime code, with 32 zero bytes at each of `immutables`: see `hashCode`. */',
    `export const PUBLISHED_CODE = {\n${rows.join('')}} as const\n`,
  ].join('\n')
}

function getContract(name: string): Contract {
  const contract = contracts[name]
  if (!contract) throw new Error(`${name} was not compiled`)
  return contract
}

function toFileName(name: string): string {
  return `${name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase()}.gen.ts`
}

const contracts = compileProduct()
const isCheck = process.argv.includes('--check')
const drifted: string[] = []
mkdirSync(folder, { recursive: true })
const sources = generated.map((name) => [toFileName(name), toSource(name, getContract(name))] as const)
for (const [name, source] of [...sources, ['published-code.gen.ts', toPublishedCode()] as const]) {
  const file = fileURLToPath(new URL(name, folder))
  if (existsSync(file) && readFileSync(file, 'utf8') === source) continue
  drifted.push(name)
  if (!isCheck) writeFileSync(file, source)
}
if (isCheck && drifted.length > 0) {
  console.error(`out of date, run \`npm run generate\`: ${drifted.join(', ')}`)
  process.exitCode = 1
}
