import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assemble } from '@geoswap/sbpf'
import { describe, expect, it } from 'vitest'
import { escrowProgram } from '../../src/program.gen.ts'
import { createMutants } from './mutate.ts'
import { createSuite, findFailure } from './suite.ts'

const PROGRAM = join(import.meta.dirname, '../../program')
const EVERY = 19

const { instructions, entry } = assemble(readFileSync(join(PROGRAM, 'escrow.s'), 'utf8'))
const mutants = createMutants({ instructions, entry })
const accepted = readFileSync(join(PROGRAM, 'accepted-mutants.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))

describe('mutants of the program', () => {
  it('are made of every instruction, each with a name of its own and other bytes than the program', () => {
    expect(new Set(mutants.map(({ line }) => line))).toEqual(new Set(instructions.map(({ line }) => line)))
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
    expect(mutants.filter(({ elf }) => Buffer.compare(elf, escrowProgram) === 0)).toEqual([])
  })

  it('that were accepted exist', () => {
    const names = new Set(mutants.map(({ name }) => name))

    expect(accepted.filter((name) => !names.has(name))).toEqual([])
  })

  it('are told from the program, which passes, by generated cases: a sample', {
    timeout: 300_000,
  }, async () => {
    const suite = await createSuite(12)
    const sample = mutants.filter(({ name }, index) => index % EVERY === 0 && !accepted.includes(name))

    const survivors = sample.filter(({ elf }) => findFailure(suite, elf) === undefined)

    expect(findFailure(suite, escrowProgram)).toBeUndefined()
    expect(survivors.map(({ name }) => name)).toEqual([])
  })
})
