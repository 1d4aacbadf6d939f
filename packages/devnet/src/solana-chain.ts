import { parseArgs } from 'node:util'
import { startSolanaChain } from '@geoswap/solana-rpc'
import { reportListening } from './node-child.ts'
import { CONFIRMED_LAG, createProvider } from './shape/solana/provider.ts'

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8899' },
    'slot-ms': { type: 'string', default: '400' },
    'confirmed-lag': { type: 'string' },
    'finalized-lag': { type: 'string', default: '32' },
    shape: { type: 'string' },
  },
})

const isShaped = readShape(values.shape)
const options = {
  host: values.host,
  slotMs: readCount('slot-ms', values['slot-ms']),
  confirmedLag: readCount('confirmed-lag', values['confirmed-lag'] ?? String(isShaped ? CONFIRMED_LAG : 1)),
  finalizedLag: readCount('finalized-lag', values['finalized-lag']),
  createFront: isShaped ? createProvider : undefined,
}
const wanted = readCount('port', values.port)
const chain = await startSolanaChain({ ...options, port: wanted }).catch((error: NodeJS.ErrnoException) => {
  if (error.code !== 'EADDRINUSE') throw error
  return startSolanaChain({ ...options, port: 0 })
})
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void chain.stop().then(() => process.exit(0)))
}
process.stdout.write(`solana ready ${chain.rpcUrl}\n`)
reportListening(Number(new URL(chain.rpcUrl).port))

function readCount(name: string, text: string): number {
  const count = Number(text)
  if (Number.isSafeInteger(count) && count >= 0) return count
  process.stderr.write(`--${name} must be a whole number, not ${text}\n`)
  process.exit(1)
}

/** Whether the chain behaves like the public one behind a provider. */
function readShape(name: string | undefined): boolean {
  if (name === undefined || name === 'solana') return name === 'solana'
  process.stderr.write(`--shape must be solana, not ${name}\n`)
  process.exit(1)
}
