import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { createCheckedClient } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { createWorld, outcomeOf, submitSwap, until } from '../world.ts'

const local = inject('local')
const home = inject('home')
const world = createWorld(local)
const { alpha, beta } = world

const logs = () =>
  readdirSync(join(home, 'logs'))
    .map((name) => readFileSync(join(home, 'logs', name), 'utf8'))
    .join('\n')

/** The secrets that commands on this machine may read. Each is long enough not to be there by chance. */
function secretsOfNetwork(): string[] {
  const file: Record<string, unknown> = JSON.parse(readFileSync(join(home, 'secrets.json'), 'utf8'))
  const words = Object.values(file).flatMap((value) => (typeof value === 'string' ? value : []))
  return words
    .flatMap((word) => word.split(/[,:/@]/))
    .map((part) => part.replace(/^0x/, ''))
    .filter((part) => part.length >= 24)
}

test('a swap can be followed through the logs by its id, and no secret is in them or in the metrics', async () => {
  const apiKey = await createOperator(inject('databaseUrl')).createKey()
  const api = createCheckedClient({ ...local, apiKey })
  const wallet = await world.walletWith(alpha, 'USDC', 20_000_000n)
  const order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10_000_000n }
  const { swapId, quote, submission } = await submitSwap({ api }, wallet, order)
  await outcomeOf({ api }, swapId)
  await api.submit({ ...submission, signature: `${submission.signature.slice(0, -2)}00` })

  const lines = await until(async () => {
    const found = logs()
      .split('\n')
      .filter((line) => line.includes(swapId))
    return (
      ['api', 'worker', 'attester'].every((name) =>
        found.some((line) => line.includes(`"name":"${name}"`)),
      ) && found
    )
  })
  const metrics = await (await fetch(`${local.apiUrl}/metrics`)).text()
  const secrets = [
    ...secretsOfNetwork(),
    ...[apiKey.split('_')[3] ?? apiKey, quote.geoQuoteToken, submission.geoOpToken, submission.signature],
  ]

  expect(lines.length).toBeGreaterThan(3)
  expect(secrets.length).toBeGreaterThan(5)
  const shown = `${logs()}\n${metrics}`
  expect(secrets.filter((secret) => shown.includes(secret))).toEqual([])
})
