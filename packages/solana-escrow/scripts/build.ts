import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assemble } from '@geoswap/sbpf'

const PACKAGE = join(import.meta.dirname, '..')
const SOURCE = join(PACKAGE, 'program/escrow.s')
const BINARY = join(PACKAGE, 'program/escrow.so')
const MODULE = join(PACKAGE, 'src/program.gen.ts')

function moduleOf(elf: Uint8Array): string {
  const hash = createHash('sha256').update(elf).digest('hex')
  const lines =
    Buffer.from(elf)
      .toString('base64')
      .match(/.{1,100}/g) ?? []
  return `// Generated from program/escrow.s by npm run generate.

/** SHA-256 of the program file. */
export const ESCROW_PROGRAM_HASH = '${hash}'

const base64 =
${lines.map((line) => `  '${line}'`).join(' +\n')}

/** The program file, as it is deployed. */
export const escrowProgram: Uint8Array = Uint8Array.from(atob(base64), (text) => text.charCodeAt(0))
`
}

const { elf } = assemble(readFileSync(SOURCE, 'utf8'))
if (process.argv.includes('--check')) {
  const isBuilt = readFileSync(BINARY).equals(elf) && readFileSync(MODULE, 'utf8') === moduleOf(elf)
  if (!isBuilt) {
    console.error(
      'packages/solana-escrow: the program is not the one its source builds: run npm run generate',
    )
    process.exitCode = 1
  }
} else {
  writeFileSync(BINARY, elf)
  writeFileSync(MODULE, moduleOf(elf))
}
