/** Words that open a sentence without a subject: the reader waits for the verb. */
export const emptyOpenings = ['What', 'Whatever', 'Who', 'Whoever', 'Whose', 'Whom', 'That which']

/** In comments and test titles; a document may be a little longer. */
export const maxSentenceWords = 30
export const maxDocumentSentenceWords = 40

/** Words that once stood for something else here, and the field's own word for it. */
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
