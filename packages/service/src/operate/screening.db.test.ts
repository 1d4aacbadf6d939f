import { expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { runCommand } from '../command.ts'
import { screening } from './screening.ts'

const database = useTestDatabase()
const EVM = '0x901bb9583b24D97e995513C6778dc6888AB6870e'
const SOLANA = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

async function run(...args: string[]) {
  const out: string[] = []
  const hints: string[] = []
  const output = { out: (text: string) => void out.push(text), hint: (text: string) => void hints.push(text) }
  const code = await runCommand(output, () => screening(args, { DATABASE_URL: database.url }, output))
  return { code, out: out.join('\n'), hint: hints.join('\n') }
}
const why = ['--reason', 'a false match', '--author', 'Ada']
const listed = async () =>
  (JSON.parse((await run('list', '--json')).out) as Record<string, string>[]).map(
    ({ verdict, address, reason, author }) => ({ verdict, address, reason, author }),
  )

test('a decision is recorded with its reason and author, and holds until it is withdrawn', async () => {
  expect(await run('allow', EVM.toLowerCase(), ...why)).toMatchObject({ code: 0, hint: `${EVM} is served.` })
  expect(await run('deny', SOLANA, ...why)).toMatchObject({ code: 0 })

  const decided = { reason: 'a false match', author: 'Ada' }
  expect(await listed()).toEqual([
    { verdict: 'allow', address: EVM.toLowerCase(), ...decided },
    { verdict: 'deny', address: SOLANA, ...decided },
  ])
  expect(await run('clear', EVM, ...why)).toMatchObject({ code: 0 })
  expect((await listed()).map(({ address }) => address)).toEqual([SOLANA])
})

test.each([
  [['allow', EVM, '--reason', 'why']],
  [['deny', EVM, '--author', 'Ada']],
  [['deny', EVM, '--reason', ' ', '--author', 'Ada']],
  [['deny', 'somebody', ...why]],
  [['deny', EVM, SOLANA, ...why]],
  [['deny', ...why]],
  [['deny', EVM, '--reason', 'x'.repeat(201), '--author', 'Ada']],
  [['fly']],
])('"screening %j" is refused', async (args) => {
  expect(await run(...args)).toMatchObject({ code: 2, out: '' })
})
