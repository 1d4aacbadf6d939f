import { readFileSync, writeFileSync } from 'node:fs'
import { type Hex, parseTransaction } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Env, type Output, runCommand } from '../../src/command.ts'

type Commands = Readonly<Record<string, (args: string[], env: Env, output: Output) => Promise<number>>>

/** Runs commands of the operator as they are typed, and keeps what they print. */
export const createRunner =
  (commands: Commands) =>
  async (line: string, env: Record<string, string> = {}) => {
    const lines: string[] = []
    const keep = (text: string) => void lines.push(text)
    const output = { out: keep, hint: keep }
    const [name = '', ...args] = line.split(' ')
    const command = commands[name]
    if (!command) throw new Error(`There is no command ${name}`)
    const code = await runCommand(output, () => command(args, env, output))
    return { code, text: lines.join('\n') }
  }

/** As a wallet elsewhere, which gets the file and returns what it signed. It may choose another limit of gas. */
export async function signElsewhere(
  exported: string,
  key: Hex,
  change: { gas?: bigint } = {},
): Promise<string> {
  const { transactions } = JSON.parse(readFileSync(exported, 'utf8'))
  const signed = transactions.map(({ unsigned }: { unsigned: Hex }) =>
    privateKeyToAccount(key).signTransaction({ ...parseTransaction(unsigned), ...change }),
  )
  const signedFile = `${exported}.signed`
  writeFileSync(signedFile, (await Promise.all(signed)).join('\n'))
  return signedFile
}
