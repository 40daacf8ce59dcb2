// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Asks one question at a time. While an answer is on its way only the newest further question is
// kept, so that a fast hand does not make a queue.

export class Latest<Question, Answer> {
  private busy = false;
  private next: { readonly question: Question } | null = null;
  private closed = false;

  constructor(
    private readonly ask: (question: Question) => Promise<Answer>,
    /** `stale`: a newer question waits already. */
    private readonly take: (question: Question, answer: Answer, stale: boolean) => void,
    private readonly fail: (question: Question, reason: unknown) => void,
  ) {}

  /** Asks now, or as soon as the answer before is there. */
  want(question: Question): void {
    if (this.closed) return;
    if (this.busy) {
      this.next = { question };
      return;
    }
    this.run(question);
  }

  /** Forgets the question that waits: it is answered otherwise. */
  forget(): void {
    this.next = null;
  }

  /** Drops all answers that are still to come. */
  close(): void {
    this.closed = true;
    this.next = null;
  }

  private run(question: Question): void {
    this.busy = true;
    // Busy until the answer is used: a question that it raises waits like any other.
    const done = (use: () => void): void => {
      if (!this.closed) use();
      this.busy = false;
      const waiting = this.next;
      this.next = null;
      if (waiting !== null && !this.closed) this.run(waiting.question);
    };
    this.ask(question).then(
      (answer) => done(() => this.take(question, answer, this.next !== null)),
      (reason: unknown) => done(() => this.fail(question, reason)),
    );
  }
}
