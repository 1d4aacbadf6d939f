import type { Mark } from './marks.ts'

/** The mark of a token, chain or wallet, beside its name. */
export function Avatar({ mark }: { mark: Mark }) {
  return (
    <svg class="avatar" viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="12" r="12" fill={mark.color} />
      {mark.path ? (
        <path d={mark.path} fill="#fff" />
      ) : (
        <text x="12" y="12" fill="#fff" text-anchor="middle" dominant-baseline="central">
          {mark.letters}
        </text>
      )}
    </svg>
  )
}
