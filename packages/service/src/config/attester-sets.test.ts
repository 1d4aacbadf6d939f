import { expect, test } from 'vitest'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import { attesterAddresses } from '../swap/attester-set.ts'
import { parseNetwork } from './network-file.ts'

const SET = '"attesters": { "members": ["0x3000000000000000000000000000000000000001"], "threshold": 1 }'
const [A, B] = ['0x3000000000000000000000000000000000000001', '0x3000000000000000000000000000000000000002']

const problemsWith = (text: string) =>
  parseNetwork(NETWORK_TEXT.replace(SET, text)).problems.map(({ path, message }) => `${path}: ${message}`)
const setOf = (members: readonly string[], threshold: number) => JSON.stringify({ members, threshold })

test('two of two attesters are a set, and a member may stay in the next one', () => {
  expect(problemsWith(`"attesters": ${setOf([A, B], 2)}, "nextAttesters": ${setOf([B], 1)}`)).toEqual([])
})

test('a set needs no more signatures than it has members, each named once', () => {
  expect(problemsWith(`"attesters": ${setOf([A], 2)}`)).toEqual([
    '/attesters/threshold: must not be above the number of members (1)',
  ])
  expect(problemsWith(`"attesters": ${setOf([A, A], 2)}`)).toContain(`/attesters/members/1: ${A} is repeated`)
  expect(problemsWith(`"attesters": ${setOf([A, B], 0)}`)).toEqual(['/attesters/threshold: must be >= 1'])
})

test('a file of an earlier version is told what to write instead', () => {
  expect(problemsWith(`"attester": "${A}"`)).toContain(
    '/attester: was replaced: write "attesters": { "members": [this address], "threshold": 1 }',
  )
})

test('an address of both sets is one attester', () => {
  const attesters = { members: [A, B], threshold: 2 }

  expect(
    attesterAddresses({ attesters, nextAttesters: { members: [B.toUpperCase()], threshold: 1 } }),
  ).toHaveLength(2)
})
