package wiretrial.subjects.springboot;

import javax.sql.DataSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import wiretrial.subjects.web.Database;

/** Spring Boot with what it configures by itself, and the contract's pool as its source of data. */
@SpringBootApplication
public class Application {
  public static void main(String[] words) {
    SpringApplication.run(Application.class, words);
  }

  @Bean
  DataSource database() {
    return Database.pool();
  }
}
