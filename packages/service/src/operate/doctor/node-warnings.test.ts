import { expect, test } from 'vitest'
import { findNodeWarnings } from './doctor.ts'

const chain = {
  name: 'base',
  rpcUrls: [`https://one.example/v2/$\{KEY}`, 'https://two.example/rpc/base-mainnet-archive'],
  attesterRpcUrls: ['https://three.example', 'https://four.example'],
}

test('several nodes of its own for each process, without keys in the file, need no warning', () => {
  expect(findNodeWarnings([chain])).toEqual([])
})

test('keys and logins in URLs, shared nodes and single nodes are named by host, never with the secret', () => {
  const secret = 'a1b2c3d4e5f6a7b8c9d0e1f2'
  const rpcUrls = [`https://one.example/v2/${secret}`]
  const attesterRpcUrls = [`https://user:${secret}@one.example`, `https://two.example?key=${secret}`]

  const warnings = findNodeWarnings([{ ...chain, rpcUrls, attesterRpcUrls }])

  expect(warnings).toEqual([
    expect.stringContaining('base: the URL of one.example contains a key'),
    expect.stringContaining('base: the URL of one.example contains a login'),
    expect.stringContaining('base: the URL of two.example contains a key'),
    'base: the attester asks one.example, as the worker does: give it other nodes',
    'base: API and worker have a single node, which decides alone',
  ])
  expect(warnings.join()).not.toContain(secret)
})
