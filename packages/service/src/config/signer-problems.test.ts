import { expect, test } from 'vitest'
import { NETWORK_TEXT } from '../../test/support/network.ts'
import { parseNetwork } from './network-file.ts'

const network = JSON.parse(NETWORK_TEXT)
const { attesters, relayers, treasury } = network
const [attester = ''] = attesters.members

const problemsOf = (...remoteSigners: { url: string; addresses: string[] }[]) =>
  parseNetwork(JSON.stringify({ ...network, remoteSigners })).problems.map(
    ({ path, message }) => `${path}: ${message}`,
  )

test('worker and attester may each have a remote signer, over https or on this machine', () => {
  const worker = { url: 'https://signer.example:9000', addresses: relayers }

  expect(problemsOf(worker, { url: 'http://127.0.0.1:9000', addresses: [attester] })).toEqual([])
})

test('a remote signer of worker and attester together is refused', () => {
  const url = 'https://signer.example:9000'
  const joined = ['the attester needs a signer of its own: with this one the worker could sign for it']

  expect(problemsOf({ url, addresses: [relayers[0], attester] })).toEqual([`/remoteSigners/0/url: ${joined}`])
  expect(problemsOf({ url, addresses: [relayers[0]] }, { url: `${url}/`, addresses: [attester] })).toEqual([
    `/remoteSigners/1/url: ${joined}`,
  ])
})

test('plain http to another machine and passwords in the URL are refused', () => {
  expect(problemsOf({ url: 'http://10.0.0.5:9000', addresses: [attester] })).toEqual([
    '/remoteSigners/0/url: must be https, unless it is this machine',
  ])
  expect(problemsOf({ url: 'https://a:b@signer.example', addresses: [attester] })).toEqual([
    '/remoteSigners/0/url: has a password: use a client certificate, which stays out of this file',
  ])
})

test('addresses that no process signs for, and repeated ones, are refused', () => {
  const url = 'https://signer.example'

  expect(problemsOf({ url, addresses: [treasury] })).toEqual([
    `/remoteSigners/0/addresses/0: ${treasury} is no address that worker or attester sign for`,
  ])
  expect(problemsOf({ url, addresses: [relayers[0], relayers[0]] })).toEqual([
    `/remoteSigners/0/addresses/1: ${relayers[0]} is repeated`,
  ])
})

test('keys of Solana may be remote: vault and fee payers for the worker, the attester at a server of its own', () => {
  const {
    vault,
    attester: own,
    feePayers,
  } = network.chains.find((chain: { family: string }) => chain.family === 'solana')
  const [worker, attesting] = ['https://worker.example', 'https://attester.example']
  const ofWorker = { url: worker, addresses: [vault, feePayers.input, feePayers.delivery] }

  expect(problemsOf(ofWorker, { url: attesting, addresses: [own] })).toEqual([])
  expect(problemsOf(ofWorker, { url: worker, addresses: [own] })).toEqual([
    '/remoteSigners/1/url: the attester needs a signer of its own: with this one the worker could sign for it',
  ])
  expect(problemsOf({ url: worker, addresses: [vault.slice(1)] })).toEqual([
    `/remoteSigners/0/addresses/0: ${vault.slice(1)} is no address that worker or attester sign for`,
  ])
})
