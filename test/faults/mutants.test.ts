import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { mutants } from '../chaos/mutants.ts'

test.each(mutants)('the rule that $id removes is found in its source: $what', ({ edits }) => {
  for (const { file, find } of edits) {
    const source = readFileSync(new URL(`../../packages/service/src/${file}`, import.meta.url), 'utf8')

    expect(source.split(find)).toHaveLength(2)
  }
})
