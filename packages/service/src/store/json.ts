/** JSON of stored data, with bigints as decimal strings. */
export function toJson(value: object): string {
  return JSON.stringify(value, (_key, field) => (typeof field === 'bigint' ? field.toString() : field))
}
