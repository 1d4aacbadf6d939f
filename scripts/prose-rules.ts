/** Words that open a sentence without a subject: the reader has to wait for the verb. */
export const emptyOpenings = ['What', 'Whatever', 'Who', 'Whoever', 'Whose', 'Whom', 'That which']

/** In comments and test titles; a document may be a little longer. */
export const maxSentenceWords = 30
export const maxDocumentSentenceWords = 40

/**
 * In all written documents together; generated pages grow with the code. A word has a letter or a digit: lines of
 * tables are none. Shorten another page before you raise it.
 */
export const maxWordsOfDocuments = 36_000

/** Metaphors that were once used in this code, and the field's own word for each. */
export const metaphors: Readonly<Record<string, string>> = {
  mouth: 'broadcaster',
  fate: 'outcome',
  fates: 'outcomes',
  worths: 'replacement policies',
  wheel: 'timers',
  sift: 'decline',
  thief: 'attacker',
  thieves: 'attackers',
}
