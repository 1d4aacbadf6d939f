import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { findFreePort } from '../../packages/devnet/src/ports.ts'
import { toRequest } from '../world.ts'
import type { Figure } from './figures.ts'
import type { Bench } from './network.ts'
import type { PacedFunctions } from './paced.ts'
import { startRemote } from './remote.ts'
import { median, ms, perSecond } from './statistics.ts'
import { orderOf } from './traders.ts'

const LISTED = 10_000
const RATE = 200
const SECONDS = 8
const ROUNDS = 5
const MOST_MS = 2

/**
 * The time that screening adds to a quote over HTTP: two processes in turn, of which one asks a list file, and a
 * service whose answers it knows.
 */
export async function measureScreening(bench: Bench): Promise<Figure[]> {
  const { world, service, say } = bench
  const folder = mkdtempSync(join(tmpdir(), 'geoswap-bench-'))
  const file = join(folder, 'list.txt')
  writeFileSync(file, Array.from({ length: LISTED }, () => `0x${randomBytes(20).toString('hex')}\n`).join(''))
  const judge = createServer((_request, reply) => reply.end('{"decision":"allow"}'))
  await new Promise<void>((resolve) => judge.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(judge.address() as AddressInfo).port}`
  const sources = [
    { name: 'list', kind: 'list', file },
    { name: 'own', kind: 'http', url },
  ]
  const paced = startRemote<PacedFunctions>('./paced.ts')
  try {
    const screened = await service.addApi(await findFreePort(), { screening: { sources } })
    const wallet = privateKeyToAccount(`0x${'11'.repeat(32)}`)
    const sent = {
      apiKey: world.local.apiKey,
      body: JSON.stringify(toRequest(wallet, { ...orderOf(bench), buy: 'USDC' })),
      ...{ rate: RATE, seconds: SECONDS, part: 0.95 },
    }
    const p95Of = (apiUrl: string) =>
      paced.call('measurePercentile', { ...sent, url: `${apiUrl}/swap/quote` })
    const rounds: { without: number; with: number }[] = []
    for (let count = 0; count < ROUNDS; count += 1) {
      const round = { without: await p95Of(world.local.apiUrl), with: await p95Of(screened) }
      say(`p95 of a quote: ${ms(round.with)} screened, ${ms(round.without)} not`)
      rounds.push(round)
    }
    const added = median(rounds.map((round) => round.with - round.without))
    return [
      {
        name: `Screening of a quote by ${LISTED.toLocaleString('en')} addresses and a service adds, p95`,
        measured: `${added.toFixed(2)} ms at ${perSecond(RATE)}`,
        baseline: `unscreened ${ms(median(rounds.map(({ without }) => without)))}`,
        goal: `≤ ${MOST_MS} ms`,
        ok: added <= MOST_MS,
      },
    ]
  } finally {
    paced.stop()
    judge.closeAllConnections()
    judge.close()
    rmSync(folder, { recursive: true })
  }
}
