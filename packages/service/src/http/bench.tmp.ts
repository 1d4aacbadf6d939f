import { endpoints } from '@geoswap/wire'
import { fastify } from 'fastify'
import { createTestServer } from './test-server.ts'
import { createSealer } from '../seal/sealer.ts'
import { createLogger } from '../observe/logger.ts'
import { randomBytes } from 'node:crypto'
const mode = process.argv[2]
const sealer = createSealer({ keys: [{ id: 'k1', key: randomBytes(32) }] })
const payload = { a: 'x'.repeat(40), o: Object.fromEntries(Array.from({ length: 25 }, (_, i) => ['field' + i, 'v'.repeat(20)])) }
const token = sealer.seal('quote', 'a', payload)
const quoteReply = { ...endpoints.quote.example.reply, geoQuoteToken: token }
const pending = { ...endpoints.status.example.reply, swapId: 'p', status: 'pending' }
if (mode === 'empty') {
  const app = fastify()
  const text = quoteReply
  app.post('/swap/quote', async () => text)
  app.get('/swap/status/:id', async () => pending)
  await app.listen({ port: 7001, host: '127.0.0.1' })
  console.log('KEY none')
} else {
  const swaps = new Map<string, any>([['s', endpoints.status.example.reply], ['p', pending]])
  const { app, key, statusReads } = await createTestServer({ swaps, handlers: { quote: (c) => ({ ...quoteReply, geoQuoteToken: sealer.seal('quote', c.accountId, payload) }) }, ...(mode === 'log' ? { logger: createLogger() } : {}) })
  statusReads.setListening(true)
  await app.listen({ port: 7001, host: '127.0.0.1' })
  console.error('KEY ' + key)
}
